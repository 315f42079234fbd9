"""Modules that arrive lowered (TVM-7)."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import chipdock
import chipdock.tvm

import cases
import checking
import kernels
import tvm_table

WRITTEN = tvm_table.read(tvm_table.FILE.read_text(encoding="utf-8"))
ONES = np.ones(1024, "float32")


@pytest.mark.parametrize("kind", ["llvm", "c"])
def test_a_lowered_module_is_compiled_by_chipdock(kind: str) -> None:
    chipdock.tvm.take_over(kind)
    executable = tvm.compile(kernels.added(), kind)
    (ours,) = chipdock.tvm.modules(executable)
    # Past make_packed_api: its texts were resolved.
    assert "add_compute_" in executable.mod.inspect_source("tir") and "`,\\n  expected " in executable.mod.inspect_source("tir")
    assert ours.target["kind"] == kind
    assert (kernels.call(executable["add"], ONES) == 2).all()


@pytest.mark.parametrize("kind", ["llvm", "c"])
def test_arguments_are_checked_as_tvm_does(kind: str) -> None:
    theirs = tvm.compile(kernels.added(), kind)["add"]
    chipdock.tvm.take_over(kind)
    ours = tvm.compile(kernels.added(), kind)["add"]
    wrong = [(), (kernels.tensor(ONES),), (1, 2), (kernels.tensor(ONES[:4]), kernels.tensor(ONES)),
             (kernels.tensor(ONES.astype("int32")), kernels.tensor(ONES)), (kernels.tensor(ONES[None]), kernels.tensor(ONES))]
    for args in wrong:
        said = []
        for function in (theirs, ours):
            with pytest.raises((TypeError, ValueError)) as caught:
                function(*args)
            said.append((type(caught.value), str(caught.value)))
        assert said[0] == said[1]


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["llvm", "c"])
@pytest.mark.parametrize("name", [one.name for one in cases.TOPI])
def test_lowered_kernels_of_topi(kind: str, name: str) -> None:
    found = checking.check_lowered(name, kind)
    assert found.word == "equal" or (found.word == "refused" and "packed call" in found.reason), found.reason
    assert (found.word, found.reason) == WRITTEN["lowered", name, kind], "run python/tools/tvm_table.py"


def test_a_lowered_model_runs_on_tvms_machine() -> None:
    module, arrays, expected = checking._program("model", "mlp")
    chipdock.tvm.take_over("llvm")
    executable = tvm.compile(module, "llvm")
    assert chipdock.tvm.modules(executable)
    found = checking.run("model", executable, module, arrays, tvm.cpu())
    assert np.allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)


def test_a_lowered_module_is_exported(tmp_path: object) -> None:
    chipdock.tvm.take_over("llvm")
    tvm.compile(kernels.added(), "llvm").export_library(f"{tmp_path}/lowered.so")
    assert (kernels.call(tvm.runtime.load_module(f"{tmp_path}/lowered.so")["add"], ONES) == 2).all()


def test_a_call_that_is_lowered_already_is_refused_and_falls_back() -> None:
    case = checking.case_of("topi", "sort")
    module = cases.topi_module(case)
    chipdock.tvm.take_over("llvm")
    with pytest.raises(chipdock.tvm.NotTakenOver, match=r"(?s)main for llvm: .*call_packed_lowered"):
        tvm.compile(module, "llvm")
    chipdock.tvm.take_over("llvm", fallback=True)
    with pytest.warns(chipdock.tvm.FallbackWarning, match="main fell back"):
        executable = tvm.compile(module, "llvm")
    assert (checking.run("topi", executable, module, case.arrays(), tvm.cpu())[0] == np.sort(case.arrays()[0], axis=1)).all()


def test_host_functions_that_launch_kernels_are_refused() -> None:
    # Scheduled for a device: TVM's own pipeline takes it.
    schedule = tvm.s_tir.Schedule(kernels.added())
    (loop,) = schedule.get_loops(schedule.get_sblock("B", "add"))
    block, thread = schedule.split(loop, [None, 64])
    schedule.bind(block, "blockIdx.x")
    schedule.bind(thread, "threadIdx.x")
    chipdock.tvm.take_over("llvm")
    with pytest.raises(chipdock.tvm.NotTakenOver, match=r"(?s)add for llvm: .*call_packed_lowered"):
        tvm.compile(schedule.mod, tvm.target.Target("opencl", "llvm"))


def test_kinds_of_devices_are_refused() -> None:
    with pytest.raises(chipdock.Unsupported, match="'opencl' cannot be taken over"):
        chipdock.tvm.take_over("opencl")


def test_what_was_given_back_is_tvms() -> None:
    chipdock.tvm.take_over("llvm", "c")
    chipdock.tvm.give_back("llvm")
    assert chipdock.tvm.modules(tvm.compile(kernels.added(), "llvm")) == []
    assert chipdock.tvm.modules(tvm.compile(kernels.added(), "c"))
