"""Writes ``python/tvm.md``: which programs of TVM `chipdock.tvm` runs, by target, with each refusal and its reason.

    python python/tools/tvm_table.py            # runs all, writes the file
    python python/tools/tvm_table.py --check    # compares instead
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PYTHON = Path(__file__).parent.parent
FILE = PYTHON / "tvm.md"
sys.path.insert(0, str(PYTHON / "tests" / "with_tvm"))

TITLES = {"topi": "Kernels of TOPI", "relax": "Operators of Relax", "model": "Models of Relax"}
HEAD = """# TVM's programs on Chipdock's plugins

Written by `python/tools/tvm_table.py`; `python/tests/with_tvm` checks that it is current.

Each program is compiled by `chipdock.tvm.compile` for each target and run by stock TVM {version}, on TVM's tensors; `opencl` runs on
the device API that `chipdock.tvm.register_devices` gives TVM. Its results are compared with those of TVM's own `llvm`: *equal* is at most
the tolerance `atol + rtol x |expected|` in each element, with the same element type and shape. *refused* means that `NotTakenOver` names the
function and the reason below.
"""


def text(words: dict[tuple[str, str, str], tuple[str, str]]) -> str:
    """Returns the file for verdicts by sort, name and target."""
    import checking
    import chipdock.tvm

    reasons: list[str] = []
    parts = [HEAD.format(version=chipdock.tvm.SUPPORTED[-1])]
    for sort, title in TITLES.items():
        parts.append(f"\n## {title}\n\n| program | rtol | atol | {' | '.join(checking.TARGETS)} |\n|---|---|---|{'---|' * len(checking.TARGETS)}\n")
        for name in (name for one, name in checking.programs() if one == sort):
            case = checking.case_of(sort, name)
            cells = []
            for target in checking.TARGETS:
                word, reason = words[sort, name, target]
                if reason and reason not in reasons:
                    reasons.append(reason)
                cells.append(f"{word} ({reasons.index(reason) + 1})" if reason else word)
            parts.append(f"| `{name}` | {case.rtol:g} | {case.atol:g} | {' | '.join(cells)} |\n")
    parts.append("\n## Reasons\n\n" + "".join(f"{at}. {reason}\n" for at, reason in enumerate(reasons, 1)))
    return "".join(parts)


def verdicts() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Runs every program on every target."""
    import checking

    return {
        (sort, name, target): (found.word, found.reason)
        for sort, name in checking.programs() for target in checking.TARGETS for found in (checking.check(sort, name, target),)
    }


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
