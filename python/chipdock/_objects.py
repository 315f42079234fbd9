"""The objects of the library as Python classes, and the functions that make them."""

from __future__ import annotations

import inspect
import json
import os
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

import tvm_ffi

from . import _library, _progress, errors
from ._progress import ProgressLike
from ._shown import Listing, html_table, problem

__all__ = [
    "Device", "Graph", "Host", "Kernel", "Module", "Stream", "Target", "Timeline", "capabilities", "compile", "device", "device_name", "devices",
    "function",
    "host", "kernel", "load", "lower", "plugins", "register", "target_tags", "targets", "unregister",
]

#: A device: its name (`"opencl:0"`), or the value that tensors have.
DeviceLike = Union[str, "tvm_ffi.Device"]
#: A target: one that was made, the name of a kind or a tag, JSON, or a mapping of options.
TargetLike = Union["Target", str, Mapping[str, Any], None]

Device = tvm_ffi.Device

_function = _library.function

#: The longest wait in the library, after which Python looks for signals.
_WAIT_SECONDS = 0.1


def _text_of(target: TargetLike) -> str:
    """Returns the text of a target: the name of its kind or tag, or JSON."""
    if isinstance(target, Target):
        return str(_target_json(target))
    return target if isinstance(target, str) else json.dumps(target)


@tvm_ffi.register_object("chipdock.Target")
class Target(tvm_ffi.Object):
    """What code is made for: a kind with its options, complete.

    >>> import chipdock
    >>> chipdock.Target("c").kind
    'c'
    """

    __slots__ = ("__dict__",)

    def __init__(self, source: TargetLike = None, *, host: TargetLike = None, device: str | None = None) -> None:
        """Makes a target.

        Parameters
        ----------
        source
            The name of a kind or of a tag such as ``"nvidia/geforce-rtx-3090"``, JSON, or a mapping with ``kind`` or ``tag`` and
            options; by default the preferred target of the host.
        host
            The target of the host functions, for a device's target.
        device
            A device ``NAME:ID``, of which unset options are taken.

        Raises
        ------
        ValueError
            An option, its value, the kind or the tag is not known; the message has the nearest known.
        Unavailable
            A plugin or a library that the kind needs is missing.
        """
        arguments = [None if one is None else _text_of(one) for one in (source, host)]
        self.__init_handle_by_constructor__(_make_target, _host(), *arguments, device)

    @property
    def options(self) -> dict[str, Any]:
        """All options, with the kind."""
        found: dict[str, Any] = json.loads(_target_json(self))
        return found

    @property
    def kind(self) -> str:
        """The kind's name."""
        return str(self.options["kind"])

    def __repr__(self) -> str:
        return f"chipdock.Target({_target_json(self)})"

    def _repr_html_(self) -> str:
        rows = [[name, json.dumps(value)] for name, value in self.options.items() if name != "kind"]
        return html_table(["option", "value"], rows, f"chipdock.Target {self.kind}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and bool(_target_json(self) == _target_json(other))

    def __hash__(self) -> int:
        return hash(_target_json(self))


@tvm_ffi.register_object("chipdock.Module")
class Module(tvm_ffi.Object):
    """Compiled or loaded code.

    A function of it is an attribute and an item: ``module.add(a, b, c)``, ``module["add"](a, b, c)``. It is a native function: it
    takes arrays of numpy, tensors of torch and of tvm_ffi, and anything with ``__dlpack__``, without copies. Buffers at the end that
    a call leaves out are allocated and returned: ``c = module.add(a, b)``.
    """

    __slots__ = ("__dict__",)

    def __getitem__(self, name: str) -> tvm_ffi.Function:
        """Returns the function of that name, of this module or of one that it imports."""
        # A native function: its calls do not come back to Python (`host/ffi/src/functions.rs`).
        function: tvm_ffi.Function = _module_function(self, name)
        # What `bench` reads; the text alone, so that the function and the module do not hold each other.
        text = self.__dict__.get("_text")
        if text is not None:
            function.__dict__["_kernel"] = (text, name)
        return function

    def __getattr__(self, name: str) -> tvm_ffi.Function:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            found = self[name]
        except errors.NotFound as error:
            raise AttributeError(str(error)) from None
        self.__dict__[name] = found
        return found

    def import_module(self, module: Module) -> None:
        """Adds a module to those that this one imports: its functions are found here by name, also by compiled code that calls them
        (``T.call_packed("name", ...)``), and files that are written have it too.

        Raises
        ------
        ValueError
            The module is this one, or imports it.
        """
        _import_module(self, module)

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions())

    def __len__(self) -> int:
        return len(self.functions())

    def __contains__(self, name: object) -> bool:
        return name in self.functions()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions()]

    def functions(self) -> list[str]:
        """Returns the names of its functions."""
        return [str(name) for name in _module_functions(self)]

    def describe(self) -> dict[str, Any]:
        """Returns what it has: functions with parameters, target, format, sections, imports, and what is missing to call it."""
        found: dict[str, Any] = json.loads(_module_describe(self))
        return found

    def source(self, form: str = "source") -> str | None:
        """Returns the text that it was compiled from, or another output that was kept, such as ``"asm"``; None without one."""
        found = _module_source(self, form)
        return None if found is None else str(found)

    def lowered(self) -> str | None:
        """Returns the TVMScript that its code generators were given; None for a module that was loaded."""
        found = _module_lowered(self)
        return None if found is None else str(found)

    @property
    def target(self) -> dict[str, Any]:
        """The target that it was compiled for."""
        found: dict[str, Any] = json.loads(_module_target(self))
        return found

    def export(
        self, path: str | os.PathLike[str], *, device_code: str = "embedded", linker: str | None = None
    ) -> None:
        """Writes it to a file: a library (``.so``), an archive for a linker (``.tar``) or its artifact (``.chipdock``).

        Parameters
        ----------
        path
            The file. It is written whole or not at all.
        device_code
            ``"embedded"``: device code is in the library; ``"aside"``: in a file beside it.
        linker
            The C compiler that links.
        """
        if device_code not in ("embedded", "aside"):
            raise ValueError(f'device_code: expected "embedded" or "aside", found {device_code!r}')
        options: dict[str, Any] = {"device_code_aside": device_code == "aside"}
        if linker is not None:
            options["linker"] = linker
        _module_export(self, os.fspath(path), json.dumps(options))

    def run(self, name: str, device: DeviceLike, *args: Any, timeout: float | None = None) -> Any:
        """Calls a function on a device. Tensors that are elsewhere are copied there, and back afterwards.

        With a timeout, in seconds, host code that is not done by then ends with TimeoutError; its outputs may be written in part.
        Ctrl-C ends it as well, and every other call of a function.
        """
        if timeout is None:
            return _run(self, name, _device(device), *args)
        return _run_with(self, name, _device(device), json.dumps({"timeout_s": timeout}), None, *args)

    def to_bytes(self) -> bytes:
        """Returns its artifact, which `load` takes on another machine."""
        return bytes(_module_bytes(self))

    def __repr__(self) -> str:
        described = self.describe()
        return f"chipdock.Module({described['kind']}: {', '.join(_signature(one) for one in described['functions'])})"

    def _repr_html_(self) -> str:
        
        described = self.describe()
        kind = (described["target"] or {}).get("kind", described["kind"])
        return html_table([f"chipdock.Module for {kind}"], [[_signature(one)] for one in described["functions"]])


def _signature(described: Mapping[str, Any]) -> str:
    def one(param: Mapping[str, Any]) -> str:
        shape = f"[{', '.join(param['shape'])}]" if param["kind"] == "buffer" else ""
        return f"{param['name']}: {param['dtype']}{shape}"

    params = described["params"]
    return f"{described['name']}({', '.join(described['args'] if params is None else map(one, params))})"


@tvm_ffi.register_object("chipdock.Stream")
class Stream(tvm_ffi.Object):
    """An ordered queue of a device. ``with stream:`` makes it the current one of this thread."""

    __slots__ = ("__dict__",)

    def __init__(self, device: DeviceLike) -> None:
        """Makes a stream of a device."""
        self.__init_handle_by_constructor__(_stream, _host(), _device(device))

    @property
    def device(self) -> tvm_ffi.Device:
        """Its device."""
        found: tvm_ffi.Device = _stream_device(self)
        return found

    def sync(self) -> None:
        """Waits until all its work is done."""
        _stream_sync(self)

    def wait_for(self, other: Stream) -> None:
        """Makes its later work wait for what is queued on another stream now."""
        _stream_wait_for(self, other)

    def signal(self, timeline: Timeline, value: int) -> None:
        """Makes a timeline reach a value when the work that the stream has is done; waits for nothing."""
        _stream_signal(self, timeline, value)

    def wait(self, timeline: Timeline, value: int) -> None:
        """Makes its later work begin after a timeline has reached a value, for which a signal is queued; waits for nothing."""
        _stream_wait(self, timeline, value)

    def native(self) -> int:
        """Returns the native stream below it, such as a ``CUstream``."""
        return int(_stream_native(self))

    def __enter__(self) -> Stream:
        before = _set_stream(_host(), self.device, self)
        self.__dict__.setdefault("_before", []).append(before)
        return self

    def __exit__(self, *_: object) -> None:
        _set_stream(_host(), self.device, self.__dict__["_before"].pop())

    def __repr__(self) -> str:
        return f"chipdock.Stream({_device_name(_host(), self.device)})"


@tvm_ffi.register_object("chipdock.Timeline")
class Timeline(tvm_ffi.Object):
    """A value of a device that only rises: streams signal it (`Stream.signal`), and streams and the host wait for it."""

    __slots__ = ("__dict__",)

    def __init__(self, device: DeviceLike, initial: int = 0) -> None:
        """Makes a timeline that has reached ``initial``."""
        self.__init_handle_by_constructor__(_timeline, _host(), _device(device), initial)

    @property
    def device(self) -> tvm_ffi.Device:
        """Its device."""
        found: tvm_ffi.Device = _timeline_device(self)
        return found

    @property
    def value(self) -> int:
        """The value that it has reached."""
        return int(_timeline_value(self))

    def set(self, value: int) -> None:
        """Makes it reach a value, after the signals that are queued."""
        _timeline_set(self, value)

    def wait(self, value: int, timeout: float | None = None) -> bool:
        """Waits until it has reached a value and returns true, or false when ``timeout`` seconds have passed first. It may be called
        before the signal."""
        ends = None if timeout is None else time.monotonic() + timeout
        while True:
            # In short waits, between which Ctrl-C is seen.
            left = _WAIT_SECONDS if ends is None else min(_WAIT_SECONDS, max(0.0, ends - time.monotonic()))
            if _timeline_wait(self, value, int(left * 1e9)):
                return True
            if ends is not None and time.monotonic() >= ends:
                return False

    def __repr__(self) -> str:
        return f"chipdock.Timeline({_device_name(_host(), self.device)})"


@tvm_ffi.register_object("chipdock.Graph")
class Graph(tvm_ffi.Object):
    """Launches and copies of a device that were recorded once, and are replayed with other tensors at little cost.

    >>> step = chipdock.Graph.record(lambda x, y: module.steps(x, y), a, b)  # doctest: +SKIP
    >>> step(c, d)                                                          # doctest: +SKIP
    """

    __slots__ = ("__dict__",)

    @staticmethod
    def record(function: Callable[..., object], *parameters: Any, device: DeviceLike | None = None, keep: Iterable[Any] = ()) -> Graph:
        """Calls ``function`` with the parameters, and records the kernels that it launches and the copies that it queues on a device
        instead of running them.

        The device is by default that of the first parameter. Python and host code run once, now: scalars, shapes and decisions stay
        as they are. Kernels may use the parameters, the tensors of ``keep``, and results that the recorded calls return, which each
        replay writes anew. Waiting for the device, or reading its tensors, is an error meanwhile.
        """
        if device is None:
            if not parameters:
                raise ValueError("device: expected one, as there is no parameter")
            device = parameters[0].device
        _record_begin(_host(), _device(device), *parameters)
        try:
            for tensor in keep:
                _record_keep(_host(), tensor)
            function(*parameters)
        except BaseException:
            _record_give_up()
            raise
        graph: Graph = _record_end()
        return graph

    @property
    def device(self) -> tvm_ffi.Device:
        """Its device."""
        found: tvm_ffi.Device = _graph_device(self)
        return found

    def replay(self, *arguments: Any, stream: Stream | None = None) -> None:
        """Queues all of it on a stream, by default the current one, with these tensors in place of the parameters, and does not wait.

        Each argument has the type, shape and kind of memory of its parameter, and they overlap no more than the parameters did. Other
        work on them is the caller's to order.
        """
        _graph_replay(self, stream, *arguments)

    def __call__(self, *arguments: Any, stream: Stream | None = None) -> None:
        """As `replay`."""
        self.replay(*arguments, stream=stream)

    def __len__(self) -> int:
        return int(_graph_size(self))

    def __repr__(self) -> str:
        return f"chipdock.Graph({len(self)} launches and copies, {_device_name(_host(), self.device)})"


@tvm_ffi.register_object("chipdock.Host")
class Host(tvm_ffi.Object):
    """Plugins, devices and targets of this process."""

    def __repr__(self) -> str:
        return "chipdock.Host()"


(
    _make_host, _plugins, _devices, _targets, _make_device, _device_name, _device_attribute, _device_sync, _make_target, _target_json,
    _compile, _lower, _load, _load_bytes, _module_function, _module_functions, _module_describe, _module_source, _module_lowered,
    _module_target, _module_bytes, _module_export, _run, _stream, _set_stream, _stream_sync, _stream_wait_for, _stream_native,
    _stream_device, _plugin_function, _target_tags,
    _register_function, _unregister_function, _import_module, _device_capabilities, _timeline, _timeline_value, _timeline_set,
    _timeline_wait, _timeline_device, _stream_signal, _stream_wait, _run_with, _record_begin, _record_keep, _record_end,
    _record_give_up, _graph_replay, _graph_device, _graph_size,
) = map(
    _function,
    (
        "host", "plugins", "devices", "targets", "device", "device_name", "device_attribute", "device_sync", "target", "target_json",
        "compile", "lower", "load", "load_bytes", "module_function", "module_functions", "module_describe", "module_source",
        "module_lowered", "module_target", "module_bytes", "module_export", "run", "stream", "set_stream", "stream_sync",
        "stream_wait_for", "stream_native", "stream_device", "function", "target_tags",
        "register_function", "unregister_function", "import_module", "device_capabilities", "timeline", "timeline_value",
        "timeline_set", "timeline_wait", "timeline_device", "stream_signal", "stream_wait", "run_with",
        "record_begin", "record_keep", "record_end", "record_give_up", "graph_replay", "graph_device", "graph_size",
    ),
)

_chosen: Host | None = None
_process = os.getpid()


def _host() -> Host:
    """The host of the calls here: that of `host`, else that of the process."""
    if _chosen is not None and _process == os.getpid():
        return _chosen
    made: Host = _make_host()
    return made


def host(**options: Any) -> Host:
    """Returns the host; with options makes a new one, which the functions of this package use from then on.

    Parameters
    ----------
    options
        ``plugin_paths``, ``isolated``, ``select``, ``disable``, ``prefer``, ``trust``, ``settings``, ``locked``, ``threads``, and ``log``:
        what is written to stderr (``"off"``, ``"error"``, ``"warning"``, ``"info"`` or ``"debug"``; by default warnings).
    """
    global _chosen, _process
    if options:
        _chosen, _process = _make_host(json.dumps(options, default=os.fspath)), os.getpid()
    return _host()


def _device(device: DeviceLike) -> tvm_ffi.Device:
    return _make_device(_host(), device) if isinstance(device, str) else device


def _target(target: TargetLike, host: TargetLike, device: str | None) -> Target:
    if device is not None and isinstance(target, Target):
        raise ValueError(f"device: the target sets every option already; use chipdock.Target(..., device={device!r})")
    return target if isinstance(target, Target) and host is None else Target(target, host=host, device=device)


def device(name: str) -> tvm_ffi.Device:
    """Returns the device of a name, ``NAME`` or ``NAME:ID``."""
    return _device(name)


def device_name(device: tvm_ffi.Device) -> str:
    """Returns the name of a device, such as that of a tensor; for a plugin's own devices TVM-FFI has none."""
    return str(_device_name(_host(), device))


def plugins() -> Listing:
    """Returns every plugin that was met, each with its state and, where it is not used, the reason."""
    return Listing(
        json.loads(_plugins(_host()))["plugins"],
        [
            ("plugin", lambda one: one["name"]), ("version", lambda one: one["version"]), ("state", lambda one: one["state"]),
            ("provides", lambda one: ", ".join(one["provides"])), ("reason", problem), ("library", lambda one: one["library"]),
        ],
    )


def devices() -> list[str]:
    """Returns the names of the devices of this machine. `device_apis` has what is missing."""
    return [one["device"] for api in device_apis() for one in api["devices"]]


def device_apis() -> Listing:
    """Returns every device API with its devices and their attributes, or the problem why there are none."""
    def named(one: dict[str, Any]) -> str:
        return ", ".join(f"{device['device']} ({device['attributes'].get('device_name', '')})" for device in one["devices"])

    return Listing(
        json.loads(_devices(_host()))["device_apis"],
        [("device api", lambda one: one["name"]), ("devices", named), ("problem", problem)],
    )


def targets() -> Listing:
    """Returns every target kind: whether it can be used here, with its default options or the problem."""
    return Listing(
        json.loads(_targets(_host()))["targets"],
        [
            ("target", lambda one: one["kind"]), ("usable", lambda one: "yes" if one["usable"] else "no"),
            ("default", lambda one: json.dumps(one["target"]) if one.get("target") else None), ("problem", problem),
        ],
    )


def register(
    name: str, function: Callable[..., Any] | None = None, *, fingerprint: str | None = None, override: bool = False,
) -> Any:
    """Registers a function of this program under a name, as a plugin registers one; a decorator where no function is given.

    Plugins and compiled code find it by its name, and code generators have hooks: ``<kind>.postprocess_source(source, target)`` returns
    what a source becomes, ``<kind>.compile_source(source, target)`` the code in place of what the kind's compiler makes (``c``, ``cuda``,
    ``metal``).

    >>> import chipdock
    >>> @chipdock.register("c.postprocess_source", fingerprint="my program 1", override=True)
    ... def notice(source, target):
    ...     return "// of our own\\n" + source
    >>> chipdock.function("c.postprocess_source")("int x;", "{}")
    '// of our own\\nint x;'
    >>> chipdock.unregister("c.postprocess_source")
    True

    Parameters
    ----------
    name
        Letters, digits, ``_``, ``.`` and ``-``.
    function
        What is called, on any thread.
    fingerprint
        A text that identifies the function among those of all programs of this user, who share the compile cache: it differs whenever
        the function might answer otherwise. What is built with a hook that has none is not cached.
    override
        Whether it takes the place of one that was registered here before; otherwise that is an error.
    """

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        _register_function(_host(), name, tvm_ffi.convert(function), fingerprint, override)
        return function

    return registered if function is None else registered(function)


def unregister(name: str) -> bool:
    """Takes back a function that was registered here; returns whether there was one."""
    return bool(_unregister_function(_host(), name))


def target_tags() -> dict[str, dict[str, Any]]:
    """Returns the tags by name: names of hardware, each with its kind and the options of a target for it.

    >>> import chipdock
    >>> chipdock.target_tags()["apple/m2-gpu"]["kind"]
    'metal'
    >>> chipdock.Target({"tag": "apple/m2-gpu", "host": "c"}).options["thread_warp_size"]
    32
    """
    found: dict[str, dict[str, Any]] = json.loads(_target_tags(_host()))
    return found


def function(name: str) -> tvm_ffi.Function:
    """Returns the plain function that a plugin registered under a name, such as ``"vendor.firmware_version"``.

    Raises
    ------
    NotFound
        No plugin here has one of that name.
    """
    found: tvm_ffi.Function | None = _plugin_function(_host(), name)
    if found is None:
        raise errors.NotFound(f"no plugin registers a function {name!r}; chipdock.plugins() has what each provides")
    return found


class Kernel:
    """A Python function whose text is a kernel in TVMScript; it is never run as Python. Made by `kernel`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self.__doc__ = function.__doc__
        lines, first = inspect.getsourcelines(function)
        self.file = inspect.getsourcefile(function) or "<kernel>"
        text = textwrap.dedent("".join(lines))
        start = next(at for at, line in enumerate(text.splitlines()) if line.startswith("def "))
        # The lines before keep their number, so that messages name the line of the file.
        body = "\n".join(text.splitlines()[start:])
        self.text = "\n" * max(first + start - 2, 0) + f"@T.prim_func(s_tir=True)\n{body}\n"

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.name} is a kernel: compile it with chipdock.compile, and call what that returns")

    def __repr__(self) -> str:
        return f"chipdock.Kernel({self.name})"


def kernel(function: Callable[..., Any]) -> Kernel:
    """Decorates a function that is a kernel in TVMScript. TVM need not be there.

    >>> @chipdock.kernel
    ... def add(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    ...     for i in range(8):
    ...         B[i] = A[i] + T.float32(1)
    """
    return Kernel(function)


def _source(source: Any) -> tuple[str, str]:
    """Returns the text of a source, and the name of its file."""
    if isinstance(source, Kernel):
        return source.text, source.file
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and source.strip()[:1] != "{"):
        path = os.fspath(source)
        with open(path, encoding="utf-8") as file:
            return file.read(), str(path)
    if isinstance(source, str):
        return source, "<kernel>"
    # A function or a module of TVM prints itself as TVMScript.
    script = getattr(source, "script", None)
    if callable(script):
        return str(script()), "<tvm>"
    raise TypeError(
        f"source: expected a path, TVMScript, a function under @chipdock.kernel, or an IRModule or PrimFunc of TVM, found {source!r}"
    )


def compile(
    source: Any,
    target: TargetLike = None,
    *,
    host_target: TargetLike = None,
    device: str | None = None,
    schedule: str = "auto",
    emit: Sequence[str] = (),
    cache: bool = True,
    threads_max: int = 0,
    progress: ProgressLike = False,
    **codegen: Any,
) -> Module:
    """Compiles a kernel and loads it. Code for another machine is not loaded: it can be exported, and its functions say why they do
    not run here.

    Parameters
    ----------
    source
        A path, TVMScript text, a function under `kernel`, or an ``IRModule`` or ``PrimFunc`` of TVM.
    target
        What to compile for; by default the preferred target of the host.
    host_target
        The target of the functions that launch kernels, for a device's target.
    device
        A device ``NAME:ID``, of which what the target does not set is taken, such as limits; by default the target's kind decides.
    schedule
        ``"auto"``: unscheduled kernels get a default schedule; ``"none"``: they do not.
    emit
        Outputs of the code generator to keep, such as ``"source"`` and ``"asm"``.
    cache
        Whether builds are looked for and kept in the compile cache.
    threads_max
        The greatest number of threads of a build; 0 is as many as there are processors.
    progress
        True shows each step in one line on a terminal. A function is called with each step as it begins: its name (``"lower"``,
        ``"pass"``, ``"build"``, ``"load"``, at the end ``"done"``), what it works on, and the seconds since the beginning.
    codegen
        Options of the code generator.

    Raises
    ------
    ValueError
        The kernel is not valid; the message shows its lines.
    Unsupported
        The kernel needs something that the target does not have.
    Unavailable
        A plugin or a compiler is missing.
    KeyboardInterrupt
        Ctrl-C gives the build up.
    """
    text, file = _source(source)
    options = {
        "file": file, "schedule": schedule, "emit": list(emit), "cache": cache, "threads_max": threads_max, "codegen": codegen,
    }
    chosen, words = _target(target, host_target, device), json.dumps(options)
    made: Module
    if progress is True:
        with _progress.Line(os.path.basename(file).strip("<>")) as line:
            made = _compile_reporting(text, chosen, words, line)
    elif callable(progress):
        made = _compile_reporting(text, chosen, words, progress)
    else:
        made = _compile(_host(), text, chosen, words, progress or None)
    made.__dict__["_text"] = text
    return made


def _compile_reporting(text: str, target: Target, options: str, report: _progress.Report) -> Any:
    caller = _progress.Caller(report)
    try:
        return _compile(_host(), text, target, options, caller)
    except Exception:
        if caller.raised is not None:
            raise caller.raised from None
        raise


def lower(source: Any, target: TargetLike = None, *, device: str | None = None, schedule: str = "auto") -> str:
    """Returns a kernel as it is scheduled for a target, as TVMScript; arguments as of `compile`."""
    text, file = _source(source)
    return str(_lower(_host(), text, _target(target, None, device), json.dumps({"file": file, "schedule": schedule})))


def load(source: str | os.PathLike[str] | bytes) -> Module:
    """Loads a built file (``.so``, ``.tar``, ``.chipdock``), a library of others for TVM-FFI, or the bytes of an artifact."""
    if isinstance(source, bytes):
        made: Module = _load_bytes(_host(), source)
    else:
        made = _load(_host(), os.fspath(source))
    return made


def synchronize(device: DeviceLike) -> None:
    """Waits until all work of a device is done."""
    _device_sync(_host(), _device(device))


def attribute(device: DeviceLike, key: str) -> Any:
    """Returns an attribute of a device, such as ``"device_name"``; None if it is not known."""
    return _device_attribute(_host(), _device(device), key)


def capabilities(device: DeviceLike) -> dict[str, Any]:
    """Returns what a device can do: ``memory`` (each kind that it has, with its scopes), ``interfaces`` of its device API, ``streams``
    (whether it has some besides the default one) and ``checked_handles``."""
    found: dict[str, Any] = json.loads(_device_capabilities(_host(), _device(device)))
    return found
