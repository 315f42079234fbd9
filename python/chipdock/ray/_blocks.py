"""Where blocks come from, and where results go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._worker import as_arrays

#: The size of a block where `rows` is left out.
BLOCK_BYTES = 16 << 20


@dataclass
class Block:
    """One block on its way."""

    index: int
    #: Its arrays or their references in the object store, or its number where workers make it.
    arguments: tuple[Any, ...]
    size_bytes: int
    #: How many workers were lost while they computed it.
    losses: int = 0


@dataclass
class Blocks:
    """Blocks in their order, made when they are asked for."""

    arrays: Iterator[tuple[npt.NDArray[Any], ...]] | None
    total: int | None
    #: Makes a block from its number, on the workers.
    read: Callable[[int], Any] | None = None
    _n_made: int = field(default=0, init=False)

    def next(self, sent: Callable[[Any], Any]) -> Block | None:
        """Returns the next block, with what `sent` makes of its arrays; None after the last."""
        index = self._n_made
        if self.arrays is None:
            if self.total is not None and index >= self.total:
                return None
            made = Block(index, (index,), 0)
        else:
            arrays = next(self.arrays, None)
            if arrays is None:
                return None
            made = Block(index, tuple(sent(array) for array in arrays), sum(array.nbytes for array in arrays))
        self._n_made += 1
        return made


def blocks_of(source: Any, rows: int | None, count: int | None) -> Blocks:
    """Returns the blocks of an array, of a tuple of arrays, of a ``.npy`` file, of an iterable, or of a function of their numbers."""
    if rows is not None and not isinstance(rows, int):
        raise TypeError(f"rows: expected an integer, found {rows!r}")
    if isinstance(source, (str, os.PathLike)):
        source = np.load(source, mmap_mode="r")
    if callable(source) and not isinstance(source, np.ndarray):
        if count is None or count < 0 or rows is not None:
            raise ValueError(
                f"count: a function of the blocks' numbers needs how many there are, and no rows; found count={count!r}, rows={rows!r}"
            )
        return Blocks(None, count, source)
    if isinstance(source, np.ndarray):
        source = (source,)
    if isinstance(source, tuple):
        return _rows_of(source, rows, count)
    if not isinstance(source, Iterable):
        raise TypeError(f"blocks: expected arrays, a .npy file, an iterable or a function of the block's number, found {source!r}")
    if rows is not None:
        raise ValueError("rows: expected none, because the blocks are given one by one")
    total = count if count is not None else len(source) if isinstance(source, Sized) else None
    return Blocks((as_arrays(block) for block in source), total)


def _rows_of(arrays: tuple[Any, ...], rows: int | None, count: int | None) -> Blocks:
    """Slices along the first axis."""
    # As plain arrays: Ray pickles a memory map's elements, but takes an array's as they are.
    plain = tuple(np.asarray(array) for array in arrays)
    lengths = {array.shape[0] if array.ndim else None for array in plain}
    if len(lengths) != 1 or None in lengths:
        raise ValueError(f"blocks: expected arrays with as many rows each, found shapes {', '.join(str(one.shape) for one in plain)}")
    if count is not None:
        raise ValueError("count: expected none, because an array has as many blocks as its rows make")
    n_rows = plain[0].shape[0]
    row_bytes = max(sum(array[:1].nbytes for array in plain), 1)
    step = max(BLOCK_BYTES // row_bytes, 1) if rows is None else rows
    if step < 1:
        raise ValueError(f"rows: expected at least 1, found {rows}")
    starts = range(0, n_rows, step)
    return Blocks((as_arrays(tuple(array[at:at + step] for array in plain)) for at in starts), len(starts))


class Sink:
    """Writes results to consecutive rows of an array."""

    def __init__(self, array: Any) -> None:
        if not hasattr(array, "__setitem__") or not hasattr(array, "shape"):
            raise TypeError(f"out: expected an array that can be written, such as numpy.lib.format.open_memmap makes, found {array!r}")
        self.array, self._row = array, 0

    def write(self, result: Any) -> None:
        """Writes the next result."""
        if isinstance(result, tuple):
            raise ValueError(f"out: expected a kernel with one result, found {len(result)}; iterate over the results instead")
        end = self._row + result.shape[0]
        if end > self.array.shape[0] or result.shape[1:] != tuple(self.array.shape[1:]):
            raise ValueError(
                f"out: shape {tuple(self.array.shape)} does not hold rows {self._row} to {end} of results of shape {result.shape}"
            )
        if result.dtype != self.array.dtype:
            raise TypeError(f"out: expected dtype {result.dtype}, found {self.array.dtype}")
        self.array[self._row:end] = result
        self._row = end

    def close(self) -> None:
        """Checks that all rows were written."""
        if self._row != self.array.shape[0]:
            raise ValueError(f"out: {self.array.shape[0]} rows were expected, and the results have {self._row}")
