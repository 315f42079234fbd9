"""Times calls, and sets what they reach beside what the device can do: `chipdock.bench`.

BENCH-1  `bench(fn, *args)` calls `fn(*args)` until its time is warm, then in runs: a run is as many calls as make it far longer than
         the clock's resolution. A time is that of one call: a run's time over its calls.
BENCH-2  Tensors on devices: a run ends when their device is done. Calls of one run are queued behind each other.
BENCH-3  Results that a call allocates are part of its time and of its bytes, and are dropped before the next call.
BENCH-4  Bytes are those that the call cannot avoid: every buffer among arguments and results once, unless the caller says otherwise.
BENCH-5  Floating-point operations are the caller's `flops`, else what the kernel's text states where the shapes determine it, else
         None; they are never guessed.
BENCH-6  Limits are measured on the same device in the same process (`bench.limits`): a triad's bytes per second in memory beyond the
         caches, and the operations per second of multiply-adds in registers. Buffers that stay in a cache may pass the first.
BENCH-7  `bench.compare` visits its contenders in turn in every run, so that what else the machine does meets all alike.

>>> import chipdock, numpy as np
>>> module = chipdock.compile("examples/kernels/vector_add.py")
>>> a, b, c = (np.ones(1 << 20, np.float32) for _ in range(3))
>>> measured = chipdock.bench(module.vector_add, a, b, c)
>>> measured.bytes, measured.flops
(12582912, 1048576)
"""

from __future__ import annotations

import html
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import repeat
from typing import Any

import tvm_ffi

from . import _flops, _limits, _objects, errors
from ._limits import Limits
from ._shown import html_table

__all__ = ["Comparison", "Limits", "Measurement", "bench"]

#: A run lasts at least this long: the clock's resolution and the loop's own cost are below a thousandth of it.
_RUN_S = 0.002
_RUNS_MIN = 5
_RUNS_MAX = 200


@dataclass(frozen=True)
class Measurement:
    """What `bench` found out about a call. Rates are None where bytes or operations are not known."""

    name: str
    device: str
    #: Seconds of one call: the median of the runs, the fastest run, and the distance between the quartiles.
    time_s: float
    time_min_s: float
    time_spread_s: float
    runs: int
    calls_per_run: int
    bytes: int | None
    #: Of these, the bytes of results that every call allocates.
    result_bytes: int
    flops: int | None
    #: Where the operations come from: `"given"`, `"kernel"`, or why they are not known.
    flops_from: str
    limits: Limits | None

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes per second."""
        return None if self.bytes is None else self.bytes / self.time_s

    @property
    def flops_per_s(self) -> float | None:
        """Floating-point operations per second."""
        return None if self.flops is None else self.flops / self.time_s

    @property
    def flops_per_byte(self) -> float | None:
        """Operations per byte: the arithmetic intensity."""
        return None if self.flops is None or not self.bytes else self.flops / self.bytes

    @property
    def bytes_fraction(self) -> float | None:
        """The share of the device's bytes per second."""
        return _over(self.bytes_per_s, self.limits.bytes_per_s if self.limits else None)

    @property
    def flops_fraction(self) -> float | None:
        """The share of the device's operations per second."""
        return _over(self.flops_per_s, self.limits.flops_per_s if self.limits else None)

    def to_dict(self) -> dict[str, Any]:
        """Returns fields and rates, for JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "limits"}
        rates = ("bytes_per_s", "flops_per_s", "flops_per_byte", "bytes_fraction", "flops_fraction")
        return found | {name: getattr(self, name) for name in rates} | {"limits": self.limits and asdict(self.limits)}

    def to_json(self) -> str:
        """Returns `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def rows(self) -> list[tuple[str, str]]:
        """Returns what `repr` shows: names and texts."""
        spread = f"+- {_seconds(self.time_spread_s)}, best {_seconds(self.time_min_s)}, {self.runs} runs of {self.calls_per_run} calls"
        shown = [("time", f"{_seconds(self.time_s)} ({spread})")]
        if self.bytes is not None and self.bytes_per_s is not None:
            of = _share(self.bytes_fraction, self.limits.bytes_per_s if self.limits else None, "B/s")
            results = f", {_scaled(self.result_bytes, 'B')} of results" if self.result_bytes else ""
            shown.append(("memory", f"{_scaled(self.bytes_per_s, 'B/s')}{of} ({_scaled(self.bytes, 'B')}{results})"))
        if self.flops and self.flops_per_s is not None:
            of = _share(self.flops_fraction, self.limits.flops_per_s if self.limits else None, "FLOP/s")
            shown.append(("arithmetic", f"{_scaled(self.flops_per_s, 'FLOP/s')}{of} ({_scaled(self.flops, 'FLOP')})"))
        elif self.flops is None:
            shown.append(("arithmetic", self.flops_from))
        if self.limits is not None:
            shown.append(("limits", f"{self.limits.bytes_by}; {self.limits.flops_by} in {self.limits.dtype}"))
        return shown

    def __repr__(self) -> str:
        return f"{self.name} on {self.device}\n" + "\n".join(f"  {name:<10} {text}" for name, text in self.rows())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in self.rows())
        return f"<table><caption>{html.escape(f'{self.name} on {self.device}')}</caption><tbody>{rows}</tbody></table>"

    def plot(self, ax: Any = None) -> Any:
        """Draws it below the device's roofline, with matplotlib; returns the axes."""
        from . import _roofline

        return _roofline.draw([self], ax)


class Comparison(Mapping[str, Measurement]):
    """Measurements of several contenders that were visited in turn, by name; ratios are times over that of `reference`."""

    def __init__(self, measurements: Iterable[Measurement], reference: str) -> None:
        self._found = {one.name: one for one in measurements}
        self.reference = reference

    def __getitem__(self, name: str) -> Measurement:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def ratio(self, name: str) -> float:
        """Returns a contender's time over that of the reference: below one is faster."""
        return self[name].time_s / self[self.reference].time_s

    def to_dict(self) -> dict[str, Any]:
        """Returns the measurements with their ratios, for JSON."""
        return {"reference": self.reference, "contenders": {n: one.to_dict() | {"ratio": self.ratio(n)} for n, one in self.items()}}

    def to_json(self) -> str:
        """Returns `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def table(self) -> list[list[str]]:
        """Returns what `repr` shows: a head and a row per contender."""
        rows = [["contender", "time", "spread", "ratio", "memory", "arithmetic"]]
        for name, one in self.items():
            memory = "" if one.bytes_per_s is None else _scaled(one.bytes_per_s, "B/s")
            arithmetic = "" if not one.flops_per_s else _scaled(one.flops_per_s, "FLOP/s")
            rows.append([name, _seconds(one.time_s), _seconds(one.time_spread_s), f"{self.ratio(name):.2f}", memory, arithmetic])
        return rows

    def __repr__(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table)]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        head, *rows = self.table()
        return html_table(head, rows)

    def plot(self, ax: Any = None) -> Any:
        """Draws those whose operations are known below the device's roofline, with matplotlib; returns the axes."""
        from . import _roofline

        return _roofline.draw(list(self.values()), ax)


def _over(value: float | None, limit: float | None) -> float | None:
    return None if value is None or not limit else value / limit


def _scaled(value: float, unit: str) -> str:
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _seconds(value: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _share(fraction: float | None, limit: float | None, unit: str) -> str:
    return "" if fraction is None or limit is None else f", {fraction:.1%} of {_scaled(limit, unit)}"


@dataclass
class _Call:
    """A call to time: how to wait for it, and what it moves and computes."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    synchronize: Callable[[], object] | None
    device: str
    dtype: str
    bytes: int | None
    result_bytes: int
    flops: int | None
    flops_from: str
    calls_per_run: int = 1

    def run(self, calls: int) -> float:
        """The seconds of so many calls."""
        function, args = self.function, self.args
        start = time.perf_counter()
        for _ in repeat(None, calls):
            function(*args)
        if self.synchronize is not None:
            self.synchronize()
        return time.perf_counter() - start

    def warm(self, warmup_s: float) -> None:
        """Calls until the given time is over, and chooses the calls of a run."""
        end, calls = time.perf_counter() + warmup_s, 1
        while True:
            taken = self.run(calls)
            if taken < _RUN_S:
                calls = max(calls + 1, min(calls * 8, int(calls * 1.2 * _RUN_S / max(taken, 1e-9))))
            elif time.perf_counter() >= end:
                break
        self.calls_per_run = calls

    def measured(self, times: list[float], limits: Limits | None) -> Measurement:
        quartiles = statistics.quantiles(times, n=4) if len(times) > 1 else [times[0]] * 3
        return Measurement(
            self.name, self.device, statistics.median(times), min(times), quartiles[2] - quartiles[0], len(times), self.calls_per_run,
            self.bytes, self.result_bytes, self.flops, self.flops_from, limits,
        )


def _tensors(value: Any) -> Iterator[Any]:
    """The arrays and tensors of a value, those of lists and tuples too."""
    if hasattr(value, "__dlpack__") and hasattr(value, "shape"):
        yield value
    elif isinstance(value, (list, tuple, tvm_ffi.Array)):
        for one in value:
            yield from _tensors(one)


def _size_bytes(tensor: Any) -> int:
    size = getattr(tensor, "nbytes", None)
    if isinstance(size, int):
        return size
    count = 1
    for extent in tensor.shape:
        count *= int(extent)
    dtype = tensor.dtype
    bits = getattr(dtype, "bits", None) or 8 * dtype.itemsize
    return (count * int(bits) * int(getattr(dtype, "lanes", 1)) + 7) // 8


def _where(tensors: list[Any]) -> tuple[str, Callable[[], object] | None]:
    """The name of the device of the tensors, and how to wait for it."""
    for tensor in tensors:
        kind, index = (int(one) for one in tensor.__dlpack_device__())
        if kind == 1:
            continue
        torch = sys.modules.get("torch")
        if kind == 2 and torch is not None and isinstance(tensor, torch.Tensor):
            return f"cuda:{index}", lambda: torch.cuda.synchronize(index)
        host, device = _objects._host(), tvm_ffi.Device(kind, index)
        return str(_objects._device_name(host, device)), lambda: _objects._device_sync(host, device)
    return "cpu:0", None


def _dtype_of(tensors: list[Any]) -> str:
    """The widest floating-point type among the tensors that there are limits of."""
    return "float64" if any("float64" in str(tensor.dtype) for tensor in tensors) else "float32"


def _prepare(name: str | None, function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> _Call:
    if not callable(function):
        raise TypeError(f"fn: expected something to call, found {function!r}")
    result = function(*args)
    results = list({id(one): one for one in _tensors(result) if not any(one is arg for arg in args)}.values())
    tensors = [*{id(one): one for one in _tensors(args)}.values(), *results]
    device, synchronize = _where(tensors)
    if given["synchronize"] is not None:
        synchronize = given["synchronize"]
    text, kernel = getattr(function, "_kernel", (None, None))
    flops, flops_from = given["flops"], "given"
    if flops is None and text is not None:
        shapes = [value if isinstance(value, int) else getattr(value, "shape", None) for value in (*args, *results)]
        flops, flops_from = _flops.of_call(text, str(kernel), shapes), "kernel"
        flops_from = flops_from if flops is not None else "operations depend on more than the shapes; give flops="
    elif flops is None:
        flops_from = "operations are not known; give flops="
    moved = given["bytes"]
    if moved is None and tensors:
        moved = sum(map(_size_bytes, tensors))
    shown = name or kernel or getattr(function, "__name__", None) or type(function).__name__
    return _Call(
        str(shown), function, args, synchronize, device, _dtype_of(tensors), moved, sum(map(_size_bytes, results)), flops, flops_from,
    )


def _limits_of(call: _Call, wanted: bool) -> Limits | None:
    if not wanted:
        return None
    try:
        return _limits.limits(call.device, call.dtype)
    except (errors.Error, ValueError):
        return None  # a device of somebody else's, such as torch's without our plugin


def _check(options: Mapping[str, Any]) -> None:
    for name, smallest in (("time_s", 0.0), ("warmup_s", 0.0), ("flops", 0), ("bytes", 0)):
        value = options[name]
        if value is not None and not (isinstance(value, (int, float)) and value >= smallest):
            raise ValueError(f"{name}: expected a number of at least {smallest}, found {value!r}")


def _measure(calls: list[_Call], time_s: float, warmup_s: float, limits: bool) -> list[Measurement]:
    for call in calls:
        call.warm(warmup_s)
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + time_s * len(calls)
    while len(times[0]) < _RUNS_MIN or (len(times[0]) < _RUNS_MAX and time.perf_counter() < end):
        for call, own in zip(calls, times):
            own.append(call.run(call.calls_per_run) / call.calls_per_run)
    return [call.measured(own, _limits_of(call, limits)) for call, own in zip(calls, times)]


class _Bench:
    """Times calls; see the functions. `chipdock.bench(fn, *args)` is `__call__`."""

    def __call__(
        self,
        fn: Callable[..., Any],
        *args: Any,
        flops: int | None = None,
        bytes: int | None = None,
        name: str | None = None,
        time_s: float = 0.5,
        warmup_s: float = 0.1,
        limits: bool = True,
        synchronize: Callable[[], object] | None = None,
    ) -> Measurement:
        """Times ``fn(*args)``.

        Parameters
        ----------
        fn
            A kernel of a module (``module.add``), or anything that can be called.
        args
            Its arguments: arrays of numpy, tensors of torch, tensors on devices.
        flops, bytes
            Floating-point operations and bytes of a call, where they are not to be derived.
        name
            How results name it.
        time_s, warmup_s
            About how long to measure, and to call before.
        limits
            Whether to measure the device's limits, once per process: about two seconds.
        synchronize
            What waits for the work of ``fn``, where no tensor among its arguments and results says which device that is.
        """
        options = {"flops": flops, "bytes": bytes, "time_s": time_s, "warmup_s": warmup_s, "synchronize": synchronize}
        _check(options)
        return _measure([_prepare(name, fn, args, options)], time_s, warmup_s, limits)[0]

    def compare(
        self,
        contenders: Mapping[str, Callable[..., Any] | tuple[Any, ...]],
        *args: Any,
        reference: str | None = None,
        flops: int | None = None,
        bytes: int | None = None,
        time_s: float = 0.5,
        warmup_s: float = 0.1,
        limits: bool = True,
        synchronize: Callable[[], object] | None = None,
    ) -> Comparison:
        """Times contenders in turn.

        Parameters
        ----------
        contenders
            By name what to call with ``args``, or a tuple of what to call and its own arguments.
        reference
            The one that ratios are over; by default the first.
        time_s
            About how long to measure each.

        The others are as of ``chipdock.bench``.
        """
        if not contenders:
            raise ValueError("contenders: expected at least one, found none")
        reference = next(iter(contenders)) if reference is None else reference
        if reference not in contenders:
            raise ValueError(f"reference: expected one of {', '.join(contenders)}, found {reference!r}")
        options = {"flops": flops, "bytes": bytes, "time_s": time_s, "warmup_s": warmup_s, "synchronize": synchronize}
        _check(options)
        calls = []
        for name, one in contenders.items():
            function, own = (one[0], one[1:]) if isinstance(one, tuple) else (one, args)
            calls.append(_prepare(name, function, own, options))
        return Comparison(_measure(calls, time_s, warmup_s, limits), reference)

    def limits(self, device: str = "cpu:0", dtype: str = "float32") -> Limits:
        """Returns what a device can do at most for an element type, ``"float32"`` or ``"float64"``; measured once per process."""
        return _limits.limits(device, dtype)

    def __repr__(self) -> str:
        return "chipdock.bench"


bench = _Bench()
