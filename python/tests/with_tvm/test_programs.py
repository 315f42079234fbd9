"""Programs of TVM give the results of TVM's own code generator (TVM-2, TVM-9), as the table in guide/docs/tvm-programs.md says."""

from __future__ import annotations

import pytest

import chipdock
import checking
import tvm_table

PROGRAMS = checking.programs()
WRITTEN = tvm_table.read(tvm_table.FILE.read_text(encoding="utf-8"))


def _needs(target: str) -> None:
    if target not in ("llvm", "c") and f"{target}:0" not in chipdock.devices():
        pytest.skip(f"no device {target}:0 on this machine")


@pytest.mark.sampled
@pytest.mark.parametrize("target", checking.TARGETS)
@pytest.mark.parametrize(("sort", "name"), PROGRAMS, ids=[f"{sort}-{name}" for sort, name in PROGRAMS])
def test_program(sort: str, name: str, target: str) -> None:
    _needs(target)
    found = checking.check(sort, name, target)
    assert found.word in ("equal", "refused"), found.reason
    # Only sorts of the host, and only for devices.
    assert found.word == "equal" or (target == "opencl" and "sort" in found.reason), found.reason
    assert (found.word, found.reason) == WRITTEN[sort, name, target], "run python/tools/tvm_table.py"


def test_there_are_as_many_programs_as_the_table_promises() -> None:
    sorts = [sort for sort, _ in PROGRAMS]
    assert sorts.count("topi") >= 25 and sorts.count("relax") >= 15 and sorts.count("model") == 4


@pytest.mark.parametrize("name", [name for sort, name in PROGRAMS if sort == "model"])
def test_model_on_vulkan(name: str) -> None:
    _needs("vulkan")
    assert checking.check("model", name, "vulkan") == checking.Verdict("equal")


def test_table_has_the_form_and_the_programs_of_today() -> None:
    """Its verdicts are checked where each program is run: here and in `test_lowered.py`."""
    assert tvm_table.FILE.read_text(encoding="utf-8") == tvm_table.text(WRITTEN), "run python/tools/tvm_table.py"
