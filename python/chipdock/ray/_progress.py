"""How far a map is."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Union


@dataclass
class Report:
    """How far a map is. The one of a map's results is updated as it goes on."""

    #: Blocks whose result the driver has.
    n_done: int = 0
    #: Blocks in all; None where that is not known before.
    n_blocks: int | None = None
    #: Blocks that were given to another worker because theirs was lost.
    n_retried: int = 0
    #: Workers that can compute now.
    n_workers: int = 0
    #: The most blocks that were in the object store at once.
    n_in_flight_max: int = 0
    #: How often each target was compiled for. Its key is the target as JSON.
    compiled: Counter[str] = field(default_factory=Counter)
    #: Blocks by node (Ray's id) and kind of target.
    done_by: Counter[tuple[str, str]] = field(default_factory=Counter)


#: None: a bar on a terminal; True: a bar; False: nothing; a function that is given the report after each block.
Progress = Union[bool, Callable[[Report], object], None]


class Bar:
    """One line on standard error."""

    WIDTH = 30

    def __init__(self) -> None:
        self._shown, self._start = 0.0, time.monotonic()

    def __call__(self, report: Report) -> None:
        """Shows the report, at most ten times a second."""
        now = time.monotonic()
        if now - self._shown < 0.1 and report.n_done != report.n_blocks:
            return
        self._shown = now
        done = f"{report.n_done} blocks"
        if report.n_blocks:
            filled = self.WIDTH * report.n_done // report.n_blocks
            done = f"[{'#' * filled}{'.' * (self.WIDTH - filled)}] {report.n_done}/{report.n_blocks} blocks"
        retried = f", {report.n_retried} retried" if report.n_retried else ""
        text = f"\r{done}, {report.n_workers} workers{retried}, {now - self._start:.1f} s\033[K"
        print(text, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the line."""
        if self._shown:
            print(file=sys.stderr)


def bar_of(progress: Progress) -> Callable[[Report], object] | None:
    """Returns what is given the report."""
    if progress is True or (progress is None and sys.stderr.isatty()):
        return Bar()
    return progress if callable(progress) else None
