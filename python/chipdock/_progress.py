"""Progress of a build: what `chipdock.compile` reports with ``progress=``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TextIO, Union

#: Called with each step of a build: its name (``"lower"``, ``"pass"``, ``"build"``, ``"load"``, …, at the end ``"done"``), what it works
#: on, and the seconds since the beginning. ``"codegen"`` is a step in the words of a code generator.
Report = Callable[[str, str, float], object]
ProgressLike = Union[bool, Report]

#: What a person reads for a step; a step that is not listed is not shown.
SHOWN = {
    "open_plugin": "open plugin",
    "validate": "check",
    "pass": "pass",
    "find_build": "look into the cache",
    "build": "generate code for",
    "codegen": "",
    "keep_build": "keep in the cache",
    "load": "load",
}


class Caller:
    """Calls a function that reports progress. TVM-FFI brings back no exceptions but those that are an `Exception`: of others, such as
    KeyboardInterrupt, it keeps what `compile` raises in the end."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.raised: BaseException | None = None

    def __call__(self, step: str, detail: str, elapsed_s: float) -> None:
        try:
            self.report(step, detail, elapsed_s)
        except Exception:
            raise
        except BaseException as error:
            self.raised = error
            raise RuntimeError("the function that reports progress was left") from None


class Line(AbstractContextManager["Line"]):
    """One line on a terminal that each step overwrites. Elsewhere nothing is written."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self.what = what
        self.stream = sys.stderr if stream is None else stream
        self.is_terminal = self.stream is not None and self.stream.isatty()
        self.is_open = False

    def __call__(self, step: str, detail: str, elapsed_s: float) -> None:
        if step == "done":
            self._write(f"{self.what} compiled in {elapsed_s:.2f} s{' (from the cache)' if detail == 'cached' else ''}", end="\n")
            self.is_open = False
        elif step in SHOWN:
            self._write(f"{self.what}: {f'{SHOWN[step]} {detail}'.strip()} ({elapsed_s:.1f} s)")
            self.is_open = True

    def _write(self, text: str, end: str = "") -> None:
        if self.is_terminal:
            # Back to the line's begin, and clear what the step before left.
            self.stream.write(f"\r\x1b[K{text[:120]}{end}")
            self.stream.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # The line of a build that failed makes place for the error.
        if self.is_open:
            self._write("")
            self.is_open = False
