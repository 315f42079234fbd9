"""Measures what a device can do at most: bytes per second and floating-point operations per second.

Both are measured by kernels that Chipdock compiles for the device: `triad`, C = A + s * B over arrays larger than its caches, and
`fma`, independent chains of multiply-adds in registers. For `cpu` numpy's matmul is a second, independent measurement of the
latter, and the higher of the two is the limit. A limit is the best of several runs: it is what the device was seen to reach.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from . import _objects, _tensors, errors

_TRIAD = """
@T.prim_func(s_tir=True)
def triad(A: T.Buffer((SIZE,), "DTYPE"), B: T.Buffer((SIZE,), "DTYPE"), C: T.Buffer((SIZE,), "DTYPE")):
    for i in range(SIZE):
        with T.sblock("C"):
            vi = T.axis.spatial(SIZE, i)
            C[vi] = A[vi] + T.DTYPE(0.5) * B[vi]
"""
# Chains in vectors: they stay in registers. The tasks are spread over the threads.
_FMA_CPU = """
@T.prim_func(s_tir=True)
def fma(A: T.Buffer((TASKS, CHAINS, LANES), "DTYPE"), B: T.Buffer((TASKS, CHAINS, LANES), "DTYPE"), steps: T.int32):
    for t in T.parallel(TASKS):
        with T.sblock("fma"):
            vt = T.axis.spatial(TASKS, t)
            x = T.sblock_alloc_buffer((CHAINS, LANES), "DTYPE", scope="local")
            for u in T.unroll(CHAINS):
                for l in T.vectorized(LANES):
                    x[u, l] = A[vt, u, l]
            for k in range(steps):
                for u in T.unroll(CHAINS):
                    for l in T.vectorized(LANES):
                        x[u, l] = x[u, l] * T.DTYPE(0.999) + T.DTYPE(0.001)
            for u in T.unroll(CHAINS):
                for l in T.vectorized(LANES):
                    B[vt, u, l] = x[u, l]
"""
# A vector per chain too: some devices fill their units from one thread, others from many.
_FMA_GPU = """
@T.prim_func(s_tir=True)
def fma(
    A: T.Buffer((TASKS, THREADS, CHAINS, LANES), "DTYPE"), B: T.Buffer((TASKS, THREADS, CHAINS, LANES), "DTYPE"), steps: T.int32
):
    for t in T.thread_binding(TASKS, thread="blockIdx.x"):
        for i in T.thread_binding(THREADS, thread="threadIdx.x"):
            with T.sblock("fma"):
                vt, vi = T.axis.remap("SS", [t, i])
                x = T.sblock_alloc_buffer((CHAINS, LANES), "DTYPE", scope="local")
                for u in T.unroll(CHAINS):
                    for l in T.vectorized(LANES):
                        x[u, l] = A[vt, vi, u, l]
                for k in range(steps):
                    for u in T.unroll(CHAINS):
                        for l in T.vectorized(LANES):
                            x[u, l] = x[u, l] * T.DTYPE(0.999) + T.DTYPE(0.001)
                for u in T.unroll(CHAINS):
                    for l in T.vectorized(LANES):
                        B[vt, vi, u, l] = x[u, l]
"""


@dataclass(frozen=True)
class Limits:
    """What a device was seen to reach: bytes per second, operations per second, and by which kernel; None with the reason."""

    device: str
    dtype: str
    bytes_per_s: float | None
    bytes_by: str
    flops_per_s: float | None
    flops_by: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields, for JSON."""
        return asdict(self)


_measured: dict[tuple[int, str, str], Limits] = {}


def limits(device: str = "cpu:0", dtype: str = "float32") -> Limits:
    """Returns the limits of a device for an element type, measured by the first call of the process: about a second.

    Parameters
    ----------
    device
        Its name.
    dtype
        ``"float32"`` or ``"float64"``.
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f'dtype: expected "float32" or "float64", found {dtype!r}')
    host = _objects._host()
    device = str(_objects._device_name(host, _objects.device(device)))
    key = (id(host) if host is _objects._chosen else 0, device, dtype)
    if key not in _measured:
        _measured[key] = Limits(device, dtype, *_bandwidth(device, dtype), *_peak(device, dtype))
    return _measured[key]


def _target_of(device: str) -> _objects.Target:
    """The target whose kernels run on a device: the host's for `cpu`, else the kind of the same name."""
    name = device.split(":")[0]
    return _objects.Target() if name == "cpu" else _objects.Target(name, device=device)


def _once_s(run: Callable[[], object], device: str) -> float:
    start = time.perf_counter()
    run()
    _objects.synchronize(device)
    return time.perf_counter() - start


def _best_s(run: Callable[[], object], device: str) -> float:
    """The fastest of seven runs after one that does not count, or of as many as half a second allows."""
    _once_s(run, device)
    end, times = time.perf_counter() + 0.5, [_once_s(run, device)]
    while len(times) < 7 and time.perf_counter() < end:
        times.append(_once_s(run, device))
    return min(times)


def _ones(shape: tuple[int, ...], dtype: str, device: str) -> Any:
    """Memory that is written: pages that were never touched would all be one page of zeros, in the cache."""
    import numpy as np

    return _tensors.to_device(np.ones(shape, dtype), device)


def _filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace(name.upper(), str(value))
    return text


def _bandwidth(device: str, dtype: str) -> tuple[float | None, str]:
    cache_bytes = _objects.attribute(device, "l3_cache_size_bytes") or _objects.attribute(device, "l2_cache_size_bytes") or 0
    free_bytes = _objects.attribute(device, "available_global_memory_bytes") or 1 << 30
    array_bytes = max(min(max(4 * int(cache_bytes), 128 << 20), 512 << 20, int(free_bytes) // 16), 4 << 20)
    try:
        found = _triad(device, dtype, 4 << 20)
        # A device in software may take seconds for what a real one does in a millisecond.
        array_bytes = min(array_bytes, max(4 << 20, int(found * 0.1) // 3))
        found = _triad(device, dtype, array_bytes)
    except (errors.Error, ValueError, TypeError) as error:
        return None, f"not measured: {error}"
    return found, f"triad over {3 * array_bytes >> 20} MiB"


def _triad(device: str, dtype: str, array_bytes: int) -> float:
    item_bytes = 4 if dtype == "float32" else 8
    size = array_bytes // item_bytes
    triad = _objects.compile(_filled(_TRIAD, size=size, dtype=dtype), _target_of(device))["triad"]
    arrays = [_ones((size,), dtype, device) for _ in range(3)]
    return 3 * size * item_bytes / _best_s(lambda: triad(*arrays), device)


def _fma(device: str, dtype: str, chains: int, lanes: int) -> float:
    """Operations per second, in runs of ten milliseconds or more."""
    on_cpu = device.startswith("cpu:")
    shape = (64, chains, lanes) if on_cpu else (512, 64, chains, lanes)
    text = _filled(_FMA_CPU if on_cpu else _FMA_GPU, tasks=shape[0], threads=64, chains=chains, lanes=lanes, dtype=dtype)
    fma = _objects.compile(text, _target_of(device), schedule="none")["fma"]
    a, b = (_ones(shape, dtype, device) for _ in range(2))
    steps = 16
    _once_s(lambda: fma(a, b, steps), device)
    while steps < 1 << 20 and _once_s(lambda: fma(a, b, steps), device) < 0.01:
        steps *= 4
    return 2 * math.prod(shape) * steps / _best_s(lambda: fma(a, b, steps), device)


def _peak(device: str, dtype: str) -> tuple[float | None, str]:
    found: list[tuple[float, str]] = []
    reasons: list[str] = []
    on_cpu = device.startswith("cpu:")
    vector = 64 // (4 if dtype == "float32" else 8)
    for chains, lanes in [(8, vector), (12, vector)] if on_cpu else [(8, 1), (8, 4), (8, vector)]:
        try:
            found.append((_fma(device, dtype, chains, lanes), f"fma, {chains} chains of {lanes} lanes"))
        except (errors.Error, ValueError, TypeError) as error:
            reasons.append(str(error))
        if found and max(found)[0] < 1e9:
            break  # in software: more lanes would take longer, and are not faster
    if on_cpu:
        import numpy as np

        a, b, c = (np.ones((768, 768), dtype) for _ in range(3))
        found.append((2 * 768**3 / _best_s(lambda: np.matmul(a, b, out=c), device), "numpy's matmul"))
    return max(found) if found else (None, f"not measured: {'; '.join(reasons)}")
