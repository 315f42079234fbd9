"""Maps a kernel over the blocks of an array on the machines of a Ray cluster.

Ray schedules, transports and stores; Chipdock compiles and computes. The rules:

* **RAY-1 Blocks.** `map_blocks` gives each block to one kernel. Blocks are rows of arrays or of a memory-mapped ``.npy`` file, what an
  iterable yields, or what a function makes of their numbers on the workers. They are made when they are needed, and a worker reads
  them in its node's object store, without a copy; up to 90 KB are sent with the call.
* **RAY-2 Bounded.** Blocks and results in flight fill at most two fifths of the smallest object store, however large the array is.
  `constants` are put there once.
* **RAY-3 Results** come in the order of the blocks (``ordered=False``: as they are done, each with its number), while one iterates, or
  are written to the consecutive rows of `out`. They are read-only arrays in the object store: copy what you keep.
* **RAY-4 Workers** are actors (`Worker`): each owns the host of its process and the devices of its machine. Ray places them: by the
  custom resources ``chipdock_NAME`` where nodes advertise them (`resources`), else anywhere, and a machine that does not have the
  target is left out by its node's label. A worker without room waits, and starts on a node that joins later.
* **RAY-5 Targets.** A target is completed by each worker's machine (``"llvm"`` for its CPU), and each that comes of it is compiled for
  once in the cluster; the artifact is shipped to the others. ``workers={"llvm": 2, "opencl": 1}`` maps over several kinds.
* **RAY-6 Losses.** When a worker, its node, its device or an object is lost, its blocks are computed by others, at most `retries`
  times each; no result is missing, none is yielded twice. A new worker replaces the one that was lost.
* **RAY-7 Mistakes** (of kernels, arrays, functions) are raised as the exceptions that they are and not retried; a note has the block's
  number. A kernel that writes to an input, which others share, is found with the first block of each worker and refused.
* **RAY-8 End.** The end of the results, an exception, Ctrl-C, `Results.close` and the end of its ``with`` kill the workers.
* **RAY-9 Progress** is a bar on standard error when that is a terminal, or a function that is given a `Report`.

>>> import chipdock.ray, numpy as np                                                     # doctest: +SKIP
>>> rows = np.load("rows.npy", mmap_mode="r")
>>> for block in chipdock.ray.map_blocks("softmax.py", rows, target="llvm"):
...     print(block.shape)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

try:
    import ray as _ray
except ImportError as error:
    raise ImportError("chipdock.ray needs Ray: pip install ray (tested with 2.60.0)") from error

import chipdock

from . import _resources
from ._blocks import Sink, blocks_of
from ._map import Map, Options
from ._progress import Progress, Report
from ._resources import resources
from ._worker import Worker

__all__ = ["Progress", "Report", "Results", "Worker", "map_blocks", "resources"]


class Results(Iterator[Any]):
    """Results of a map, computed while they are asked for. Its end, `close` and the end of a ``with`` kill the workers."""

    def __init__(self, made: Map) -> None:
        self._results = made.results()
        #: How far the map is.
        self.report: Report = made.report

    def __next__(self) -> Any:
        return next(self._results)

    def close(self) -> None:
        """Gives the map up and kills its workers."""
        self._results.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        total = "an unknown number of" if self.report.n_blocks is None else self.report.n_blocks
        return f"chipdock.ray.Results({self.report.n_done} of {total} blocks)"


def map_blocks(
    kernel: Any,
    blocks: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    function: str | None = None,
    target: Any = None,
    workers: int | Mapping[Any, int] | None = None,
    threads: int = 1,
    rows: int | None = None,
    count: int | None = None,
    ordered: bool = True,
    in_flight: int | None = None,
    retries: int = 3,
    progress: Progress = None,
    out: Any = None,
    ray_remote_args: Mapping[str, Any] | None = None,
    start_seconds_max: float = 120.0,
    **compile_options: Any,
) -> Any:
    """Maps a kernel over blocks. Uses the cluster that Ray is connected to, else what ``ray.init()`` finds or starts.

    Parameters
    ----------
    kernel
        A source as of `chipdock.compile`, or a compiled `chipdock.Module`, which is shipped as it is.
    blocks
        An array or the path of a ``.npy`` file, cut along its first axis; a tuple of arrays, cut alike; an iterable of blocks, each an
        array or a tuple of arrays; or a function that makes a block of its number, run by the workers. A block's arrays are the
        kernel's inputs in their order; the buffers that remain at its end are its results.
    constants
        Inputs that are the same for all blocks, by the names of the kernel's parameters.
    function
        The function of the kernel, where it has several.
    target
        What to compile for: a kind or options, completed by each worker's machine; by default the kind that the driver prefers.
    workers
        Number of workers, or number by target; by default as many as the cluster has CPUs for, or devices.
    threads
        CPUs that each worker asks for, and threads that its kernel uses.
    rows
        Rows of a block of arrays; by default as many as make 16 MiB.
    count
        Number of blocks: needed for a function of their numbers, for an iterable only for progress.
    ordered
        False: results come as they are done, as pairs of the block's number and the result.
    in_flight
        Blocks that are on their way at once, instead of what fits the object stores.
    retries
        How often a block may be computed again because its worker was lost.
    progress
        A function that is given a `Report` after each block; True or False: a bar or none; by default a bar on a terminal.
    out
        An array that is written, such as one of ``numpy.lib.format.open_memmap``; it is returned.
    ray_remote_args
        Options of the actors for Ray, such as ``memory`` and ``runtime_env``.
    start_seconds_max
        How long to wait while there is no worker at all.
    compile_options
        Options of `chipdock.compile`.

    Returns
    -------
    Results
        An iterator over the results: an array each, or a tuple where the kernel has several. With `out`, `out`.

    Raises
    ------
    ValueError, TypeError, …
        What is wrong with the kernel or a block, as `chipdock.compile` and the kernel raise it.
    Unavailable
        No node has the target, or none had room for a worker in time.
    ray.exceptions.RayError
        Workers were lost more often than `retries` allows.
    """
    for name, value, least in (("threads", threads, 1), ("retries", retries, 0), ("in_flight", in_flight, 1)):
        if value is not None and (not isinstance(value, int) or value < least):
            raise ValueError(f"{name}: expected an integer of at least {least}, found {value!r}")
    source = blocks_of(blocks, rows, count)
    artifact, text = None, ("", "")
    if isinstance(kernel, chipdock.Module):
        artifact, target = kernel.to_bytes(), json.dumps(kernel.target)
    else:
        text = chipdock._objects._source(kernel)
    if not _ray.is_initialized():
        _ray.init()
    options = Options(
        artifact, text, compile_options, _workers_of(workers, target, threads), dict(constants or {}), function, threads, retries,
        in_flight, ordered or out is not None, dict(ray_remote_args or {}), start_seconds_max,
    )
    sink = None if out is None else Sink(out)
    results = Results(Map(source, options, progress))
    if sink is None:
        return results
    with results:
        for result in results:
            sink.write(result)
        sink.close()
    return out


def _workers_of(workers: int | Mapping[Any, int] | None, target: Any, threads: int) -> dict[str, int]:
    """Returns the number of workers of each target."""
    if isinstance(workers, Mapping):
        if target is not None:
            raise ValueError("target: expected none, because workers has the targets; a compiled module has one target")
        counts = {_resources.target_text(one): n for one, n in workers.items()}
    else:
        text = _resources.target_text(chipdock.Target().kind if target is None else target)
        counts = {text: _resources.n_workers(text, threads) if workers is None else workers}
    wrong = [n for n in counts.values() if not isinstance(n, int) or n < 1]
    if wrong or not counts:
        raise ValueError(f"workers: expected at least 1 of each target, found {wrong[0] if wrong else 'none'!r}")
    for text in counts:
        _resources.device_api(text)
    return counts
