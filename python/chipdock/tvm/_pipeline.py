"""The pipeline of TVM's compiler that takes functions over, and the code generators of hosts that pass on what it made (TVM-2 to TVM-6)."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm.tirx import compilation_pipeline

from .. import _objects
from . import _artifacts, _export, _lowered
from ._refusals import REASONS, Functions, NotTakenOver, callers_of, fall_back, plain_module, refuse, split
from ._targets import CPU_KINDS, mapped

#: The name that `tvm.compile` takes as ``tir_pipeline``.
NAME = "chipdock"
#: Attribute of a module of TVM's IR with the modules that were made of its functions.
MADE = "chipdock.modules"


@dataclass(frozen=True)
class Options:
    """How the pipeline compiles."""

    schedule: str = "auto"
    fallback: bool = False
    cache: bool = True
    threads_max: int = 0
    device: str | None = "first"
    emit: Sequence[str] = ()
    codegen: dict[str, Any] = field(default_factory=dict)

    def name(self) -> str:
        """The name of a pipeline with these options: the same for the same options."""
        given = {key: value for key, value in asdict(self).items() if value != getattr(Options(), key)}
        return NAME + (json.dumps(given, sort_keys=True, default=list) if given else "")


_lock = threading.Lock()


def _compile(functions: Functions, target: _objects.Target, options: Options) -> _objects.Module:
    """Compiles functions of one target together."""
    # The target is given beside the text: printed in every function it would be read as often.
    plain = plain_module(functions)
    return _objects.compile(
        plain.script(show_meta=True), target, schedule=options.schedule, emit=options.emit, cache=options.cache,
        threads_max=options.threads_max, **options.codegen,
    )


def _by_target(functions: dict[Any, Any]) -> list[tuple[Any, Functions]]:
    """Groups functions by their targets. What only others call goes with its callers: TVM may take it for a function of the host."""
    found: dict[str, tuple[Any, Functions]] = {}
    private = {var: one for var, one in functions.items() if "global_symbol" not in (one.attrs or {})}
    callers = {var: callers_of(var, functions) for var in private}
    for var, function in functions.items():
        targets = [functions[caller].attrs["target"] for caller in callers.get(var, ()) if caller not in private]
        for target in targets or [function.attrs["target"]]:
            found.setdefault(str(target), (target, {}))[1][var] = function
    return list(found.values())


def take_over_blocks(mod: Any, options: Options) -> tuple[list[_objects.Module], Functions]:
    """Compiles the functions of a module at block stage; returns our modules, and what TVM has to compile itself.

    Raises
    ------
    NotTakenOver
        A function cannot be taken over, and falling back was not asked for or cannot help.
    """
    if mod.attrs and mod.attrs.get("system_lib_prefix") is not None:
        raise NotTakenOver(
            "chipdock.tvm: a system library was asked for (system_lib_prefix), whose functions TVM's own code registers at start; "
            "build it without"
        )
    made: list[_objects.Module] = []
    left: Functions = {}
    foreign = [var.name_hint for var, function in mod.functions.items() if not isinstance(function, tvm.tirx.PrimFunc)]
    if foreign:
        raise NotTakenOver(f"chipdock.tvm: expected PrimFuncs, found others: {', '.join(foreign)}; compile Relax with tvm.compile")
    for target, functions in _by_target(dict(mod.functions.items())):
        # An option that is not known is an error of the caller's, whatever the functions are.
        ours = mapped(target, options.device)
        try:
            made.append(_compile(functions, ours, options))
            continue
        except REASONS as error:
            first = error
        kind = target.kind.name
        parts, theirs, failed = split(functions, kind, first, functools.partial(_compile, target=ours, options=options))
        if failed and kind not in CPU_KINDS:
            refuse(failed, "TVM's wheel has no run time for this target to fall back to")
        if failed and not options.fallback:
            refuse(failed, "pipeline(fallback=True) compiles them with TVM's own code generator")
        fall_back(failed)
        made += parts
        left |= theirs
    return made, left


def _factory(options: Options) -> Callable[[], tuple[Any, Any, Any]]:
    def taken(mod: Any) -> Any:
        made, left = take_over_blocks(mod, options)
        attrs = {**(dict(mod.attrs.items()) if mod.attrs else {}), MADE: [_artifacts.runnable(one) for one in made]}
        if not left:
            return tvm.IRModule({}, attrs=attrs)
        # Those that TVM compiles itself go the way of its default pipeline.
        lower, _, _ = compilation_pipeline.get_tir_pipeline("default")
        lowered = lower(tvm.IRModule(left, attrs=mod.attrs))
        return tvm.IRModule(lowered.functions, attrs=attrs)

    def finalised(passes: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: lambda mod: passes()(mod) if len(mod.functions) else mod

    def factory() -> tuple[Any, Any, Any]:
        _, host, device = compilation_pipeline.get_tir_pipeline("default")
        return taken, finalised(host), finalised(device)

    return factory


def pipeline(
    *,
    schedule: str = "auto",
    fallback: bool = False,
    cache: bool = True,
    threads_max: int = 0,
    device: str | None = "first",
    emit: Sequence[str] = (),
    **codegen: Any,
) -> str:
    """Registers a pipeline with options of Chipdock, and returns its name, for ``tvm.compile(…, tir_pipeline=…)``.

    Parameters
    ----------
    schedule
        ``"auto"``: unscheduled functions get Chipdock's default schedule; ``"none"``: they do not.
    fallback
        Functions of the processor that cannot be taken over are compiled by TVM's own code generator: each with a `FallbackWarning`
        and an entry in `fallbacks`. Without it they are refused.
    device
        The device of which targets of devices take unset options, ``"opencl:0"``; by default the first of the target's kind on this
        machine, if there is one. None: the options of the kind alone, for other machines.
    cache, threads_max, emit, codegen
        As of `chipdock.compile`.
    """
    if schedule not in ("auto", "none"):
        raise ValueError(f'schedule: expected "auto" or "none", found {schedule!r}')
    options = Options(schedule, fallback, cache, threads_max, device, tuple(emit), codegen)
    name = options.name()
    with _lock:
        compilation_pipeline.PIPELINE_MAP.setdefault(name, _factory(options))
        _names.add(name)
    return name


_names: set[str] = set()
#: What `target.build.<kind>` was before.
_builders: dict[str, Any] = {}


def _build(kind: str) -> Callable[[Any, Any], Any]:
    before = _builders[kind]

    def build(mod: Any, target: Any) -> Any:
        """Passes on what the pipeline made; compiles the rest as before."""
        made = mod.attrs.get(MADE) if mod.attrs else None
        if made is None:
            return _lowered.build(mod, target, before)
        if len(made) == 1 and not len(mod.functions):
            return made[0]
        root = before(mod.without_attr(MADE), target)
        for one in made:
            root.import_module(one)
        return root

    return build


def register() -> None:
    """Registers the pipeline and the code generators; importing `chipdock.tvm` does."""
    pipeline()
    _export.register()
    with _lock:
        for kind in CPU_KINDS:
            name = f"target.build.{kind}"
            if kind not in _builders:
                _builders[kind] = tvm_ffi.get_global_func(name)
                tvm_ffi.register_global_func(name, _build(kind), override=True)


def unregister() -> None:
    """Undoes `register`: TVM has its own pipelines, code generators and methods again. What was compiled goes on to run."""
    _lowered.give_back()
    _export.unregister()
    with _lock:
        for name in _names:
            compilation_pipeline.PIPELINE_MAP.pop(name, None)
        _names.clear()
        for kind, before in _builders.items():
            tvm_ffi.register_global_func(f"target.build.{kind}", before, override=True)
        _builders.clear()
