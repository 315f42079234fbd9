"""Writes ``guide/docs/tvm-programs.md``: which programs of TVM `chipdock.tvm` runs, by target, with each refusal and its reason.

    python python/tools/tvm_table.py            # runs all, writes the file
    python python/tools/tvm_table.py --check    # compares instead
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PYTHON = Path(__file__).parent.parent
FILE = PYTHON.parent / "guide/docs/tvm-programs.md"
sys.path.insert(0, str(PYTHON / "tests" / "with_tvm"))

TITLES = {"topi": "Kernels of TOPI", "relax": "Operators of Relax", "model": "Models of Relax"}
HEAD = """# TVM's programs on Chipdock's plugins

Written by `python/tools/tvm_table.py`; `python/tests/with_tvm` checks that it is current.

Each program is compiled by `chipdock.tvm.compile` for each target and run by stock TVM {version}, on TVM's tensors; `opencl` runs on
the device API that `chipdock.tvm.register_devices` gives TVM. Its results are compared with those of TVM's own `llvm`: *equal* is at
most the tolerance `atol + rtol x |expected|` in each element, with the same element type and shape. *refused* means that
`NotTakenOver` names the function and the reason below.
"""

#: Targets whose lowered modules `take_over` takes.
LOWERED = ("llvm", "c")
LOWERED_HEAD = """After `chipdock.tvm.take_over("llvm", "c")` TVM lowers the kernels of TOPI above by its own pipeline, past
`make_packed_api`, and Chipdock compiles what arrives at `target.build.llvm` and `target.build.c`: {equal} of {all} are equal on both.
The others:
"""
#: Verdicts by sort, name and target: the word, and the reason.
Words = dict[tuple[str, str, str], tuple[str, str]]


def text(words: Words) -> str:
    """Returns the file for verdicts by sort, name and target."""
    import chipdock.tvm
    import checking

    reasons: list[str] = []

    def table(sort: str, names: list[str], targets: tuple[str, ...]) -> str:
        rows = [f"| program | rtol | atol | {' | '.join(targets)} |\n|---|---|---|{'---|' * len(targets)}\n"]
        for name in names:
            case = checking.case_of("topi" if sort == "lowered" else sort, name)
            cells = []
            for target in targets:
                word, reason = words[sort, name, target]
                if reason and reason not in reasons:
                    reasons.append(reason)
                cells.append(f"{word} ({reasons.index(reason) + 1})" if reason else word)
            rows.append(f"| `{name}` | {case.rtol:g} | {case.atol:g} | {' | '.join(cells)} |\n")
        return "".join(rows)

    parts = [HEAD.format(version=chipdock.tvm.SUPPORTED[-1])]
    for sort, title in TITLES.items():
        names = [name for one, name in checking.programs() if one == sort]
        parts.append(f"\n## {title}\n\n{table(sort, names, checking.TARGETS)}")
    names = [name for one, name in checking.programs() if one == "topi"]
    equal = [name for name in names if all(words["lowered", name, target][0] == "equal" for target in LOWERED)]
    others = [name for name in names if name not in equal]
    head = LOWERED_HEAD.format(equal=len(equal), all=len(names))
    parts.append(f"\n## Kernels that arrive lowered\n\n{head}\n{table('lowered', others, LOWERED)}")
    parts.append("\n## Reasons\n\n" + "".join(f"{at}. {reason}\n" for at, reason in enumerate(reasons, 1)))
    return "".join(parts)


def read(file: str) -> Words:
    """Returns the verdicts that the text of the file states: the inverse of `text`."""
    import checking

    sections = dict(part.split("\n", 1) for part in file.split("\n## ")[1:])
    reasons = dict(line.split(". ", 1) for line in sections["Reasons"].strip().splitlines())

    def rows(title: str, sort: str, targets: tuple[str, ...]) -> Words:
        found: Words = {}
        for line in sections[title].splitlines():
            if line.startswith("| `"):
                name, _, _, *cells = line.strip("| ").split(" | ")
                for target, cell in zip(targets, cells, strict=True):
                    word, _, at = cell.partition(" ")
                    found[sort, name.strip("`"), target] = word, reasons[at.strip("()")] if at else ""
        return found

    words: Words = {}
    for sort, title in TITLES.items():
        words |= rows(title, sort, checking.TARGETS)
    # Those that are equal on both have no row.
    kernels = [name for sort, name in checking.programs() if sort == "topi"]
    words |= {("lowered", name, target): ("equal", "") for name in kernels for target in LOWERED}
    return words | rows("Kernels that arrive lowered", "lowered", LOWERED)


def verdicts() -> Words:
    """Runs every program on every target."""
    import checking

    found = {(sort, name, target): checking.check(sort, name, target) for sort, name in checking.programs() for target in checking.TARGETS}
    kernels = [name for sort, name in checking.programs() if sort == "topi"]
    found |= {("lowered", name, target): checking.check_lowered(name, target) for name in kernels for target in LOWERED}
    return {key: (one.word, one.reason) for key, one in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    found = text(verdicts()) if (options := parser.parse_args()) else ""
    if not options.check:
        FILE.write_text(found, encoding="utf-8")
        return 0
    return 0 if FILE.read_text(encoding="utf-8") == found else 1


if __name__ == "__main__":
    sys.exit(main())
