"""The rules of `chipdock.tvm`, one by one."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import tvm
import tvm_ffi

import chipdock
import chipdock.tvm
from chipdock.tvm import _artifacts, _devices, _pipeline, _versions

import cases
import checking
import kernels

ONES = np.ones(1024, "float32")


def run_python(program: str, *args: str) -> str:
    """Runs a program in a process of its own, and returns what it prints."""
    done = subprocess.run([sys.executable, "-c", kernels.script(program), *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- TVM-1 versions ----


def test_an_untested_version_is_refused_by_name() -> None:
    program = """
        import tvm
        tvm.__version__ = "9.9.9"
        import chipdock
        try:
            import chipdock.tvm
        except chipdock.Unsupported as error:
            print(error)
    """
    said = run_python(program)
    assert "9.9.9" in said and _versions.SUPPORTED[-1] in said


def test_devices_are_refused_for_an_untested_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tvm, "__version__", "0.28.0")
    with pytest.raises(chipdock.Unsupported, match=r"found 0\.28\.0"):
        _devices.build()


def test_the_tested_version_is_this_one() -> None:
    assert tvm.__version__ in chipdock.tvm.SUPPORTED


def test_a_missing_tvm_says_what_to_install() -> None:
    program = """
        import sys
        sys.modules["tvm"] = None
        try:
            import chipdock.tvm
        except ImportError as error:
            print(error)
    """
    assert "pip install apache-tvm==" in run_python(program)


# ---- TVM-2 what is taken over ----


@pytest.mark.parametrize("kind", ["llvm", "c"])
def test_tvms_own_compile_takes_the_pipeline_by_name(kind: str) -> None:
    executable = tvm.compile(kernels.added(), kind, tir_pipeline="chipdock")
    (ours,) = chipdock.tvm.modules(executable)
    assert ours.functions() == ["add"] and ours.target["kind"] == kind
    assert (kernels.call(executable["add"], ONES) == 2).all()


def test_tvms_default_stays_tvms() -> None:
    assert chipdock.tvm.modules(tvm.compile(kernels.added(), "llvm")) == []


def test_options_have_a_name_of_their_own() -> None:
    assert chipdock.tvm.pipeline() == "chipdock"
    assert chipdock.tvm.pipeline(schedule="none") == chipdock.tvm.pipeline(schedule="none") != chipdock.tvm.pipeline(fallback=True)
    with pytest.raises(ValueError, match="schedule"):
        chipdock.tvm.pipeline(schedule="fast")


def test_schedule_none_leaves_loops_as_they_are() -> None:
    module = cases.topi_module(checking.case_of("topi", "matmul"))
    lowered = [chipdock.tvm.modules(chipdock.tvm.compile(module, "llvm", schedule=one))[0].lowered() for one in ("auto", "none")]
    assert lowered[0] != lowered[1]


def test_options_of_the_code_generator_reach_it() -> None:
    (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(kernels.added(by=3.5), "llvm", emit=["asm"], cache=False))
    assert "ret" in (ours.source("asm") or "")


def test_a_primfunc_alone_and_the_current_target() -> None:
    function = kernels.added()["add"]
    with tvm.target.Target("c"):
        (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(function))
    assert ours.target["kind"] == "c"
    with pytest.raises(TypeError, match="mod: expected a PrimFunc"):
        chipdock.tvm.compile("add")


def test_dynamic_shapes(opencl: object) -> None:
    for target, device in (("llvm", tvm.cpu()), ("c", tvm.cpu()), ("opencl", opencl)):
        twice = chipdock.tvm.compile(kernels.dynamic(), target)["twice"]
        for length in (1, 7, 100):
            assert (kernels.call(twice, np.ones(length, "float32"), device) == 2).all()


def test_functions_are_called_by_their_symbols() -> None:
    module = tvm.IRModule({"main": kernels.added("add")["add"]})
    for pipeline in ("default", "chipdock"):
        assert (kernels.call(tvm.compile(module, "llvm", tir_pipeline=pipeline)["add"], ONES) == 2).all()


@pytest.mark.parametrize("target", ["llvm", "c", "opencl"])
def test_functions_that_call_each_other_are_compiled_together(target: str, opencl: object) -> None:
    executable = chipdock.tvm.compile(kernels.Subroutine, target)
    assert len(chipdock.tvm.modules(executable)) == 1
    device = opencl if target == "opencl" else tvm.cpu()
    assert (kernels.call(executable["main"], np.ones(8, "float32"), device) == 2).all()


@pytest.mark.parametrize("target", ["llvm", "c", "opencl"])
def test_relax_of_any_batch_size(target: str, opencl: object) -> None:
    executable = chipdock.tvm.compile(kernels.AnyBatch, target)
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((16, 8)).astype("float32")
    for batch in (1, 3, 17):
        x = rng.standard_normal((batch, 16)).astype("float32")
        (found,) = checking.run_model(executable, "main", [x, weight], checking.device_of(target))
        assert np.allclose(found, np.maximum(x @ weight, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["mlp", "transformer_block"])
def test_tvms_own_schedules_for_devices_are_taken(name: str, opencl: object) -> None:
    module, arrays, expected = checking._program("model", name)
    executable = tvm.compile(module, "opencl", tir_pipeline="chipdock")
    assert chipdock.tvm.modules(executable)
    assert np.allclose(checking.run("model", executable, module, arrays, opencl)[0], expected[0], rtol=1e-4, atol=1e-4)


def test_what_tvms_machine_compiles_itself_falls_back() -> None:
    module, arrays, expected = checking._program("model", "mlp")
    with pytest.raises(chipdock.tvm.NotTakenOver, match=r"(?s)__vmtir__forward for llvm: .*anylist"):
        tvm.relax.build(module, "llvm", tir_pipeline="chipdock", exec_mode="compiled")
    with pytest.warns(chipdock.tvm.FallbackWarning):
        executable = tvm.relax.build(module, "llvm", tir_pipeline=chipdock.tvm.pipeline(fallback=True), exec_mode="compiled")
    # With all that it calls: TVM's code generator links them.
    assert {"__vmtir__forward", "matmul", "softmax"} < {one.function for one in chipdock.tvm.fallbacks()}
    assert np.allclose(checking.run("model", executable, module, arrays, tvm.cpu())[0], expected[0], rtol=1e-4, atol=1e-4)


def test_functions_of_two_targets_in_one_module(opencl: object) -> None:
    host = kernels.added("on_host")["on_host"]
    device = kernels.added("on_device", 2.0)["on_device"].with_attr("target", tvm.target.Target("opencl", "llvm"))
    executable = tvm.compile(tvm.IRModule({"on_host": host, "on_device": device}), "llvm", tir_pipeline="chipdock")
    assert len(chipdock.tvm.modules(executable)) == 2
    assert (kernels.call(executable["on_host"], ONES) == 2).all()
    assert (kernels.call(executable["on_device"], ONES, opencl) == 3).all()


# ---- TVM-3 artifacts ----


def test_no_file_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def used_up(_: bytes) -> None:
        raise chipdock.Unsupported("no entry points are left")

    assert (kernels.call(chipdock.tvm.compile(kernels.added(), "llvm")["add"], ONES) == 2).all()
    monkeypatch.setattr(_artifacts, "_embed", used_up)
    assert (kernels.call(chipdock.tvm.compile(kernels.added(), "llvm")["add"], ONES) == 2).all()
    assert os.listdir(tmp_path) == []


# ---- TVM-4 refusals ----


def test_a_refusal_names_the_function_and_its_reason() -> None:
    with pytest.raises(chipdock.tvm.NotTakenOver, match="refused for llvm: .*call_llvm_pure_intrin") as caught:
        chipdock.tvm.compile(kernels.mixed(), "llvm")
    assert [(one.function, one.target) for one in caught.value.functions] == [("refused", "llvm")]
    assert isinstance(caught.value.__cause__, ValueError) and isinstance(caught.value, chipdock.Unsupported)


def test_falling_back_keeps_the_rest_ours_and_says_so() -> None:
    with pytest.warns(chipdock.tvm.FallbackWarning, match="refused fell back"):
        executable = chipdock.tvm.compile(kernels.mixed(), "llvm", fallback=True)
    assert [one.function for one in chipdock.tvm.fallbacks()] == ["refused"]
    (ours,) = chipdock.tvm.modules(executable)
    assert ours.functions() == ["add"]
    assert (kernels.call(executable["add"], ONES) == 2).all()
    assert (kernels.call(executable["refused"], np.full(8, 9, "float32")) == 3).all()
    assert chipdock.tvm.fallbacks(clear=True) and chipdock.tvm.fallbacks() == []


def test_nothing_falls_back_where_nothing_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chipdock.tvm.compile(kernels.added(), "llvm", fallback=True)
    assert chipdock.tvm.fallbacks() == []


def test_functions_of_devices_do_not_fall_back() -> None:
    with pytest.raises(chipdock.tvm.NotTakenOver, match="no run time"):
        chipdock.tvm.compile(kernels.refused(), "opencl", fallback=True)


def test_system_libraries_are_refused() -> None:
    with pytest.raises(chipdock.tvm.NotTakenOver, match="system_lib_prefix"):
        chipdock.tvm.compile(kernels.added().with_attr("system_lib_prefix", "x_"), "llvm")


# ---- TVM-5 targets ----


def test_options_of_targets_are_honoured() -> None:
    target = {"kind": "llvm", "mcpu": "x86-64-v2", "mattr": ["+sse4.2"], "opt-level": 1, "num-cores": 2}
    (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(kernels.added(), target))
    assert {key: ours.target[key] for key in target} == target


def test_what_tvm_fills_in_is_left_to_chipdock() -> None:
    for kind in ("llvm", "c"):
        (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(kernels.added(), kind))
        assert ours.target == chipdock.Target(kind).options


def test_targets_of_devices_take_options_of_the_device_that_is_named(opencl: object) -> None:
    def limit(**options: object) -> int:
        (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(kernels.added(), "opencl", **options))
        return int(ours.target["max_num_threads"])

    of_device = chipdock.Target("opencl", device="opencl:0").options["max_num_threads"]
    assert limit() == limit(device="opencl:0") == of_device
    assert limit(device=None) == chipdock.Target("opencl").options["max_num_threads"] != of_device


def test_the_host_of_a_device_is_honoured() -> None:
    target = tvm.target.Target({"kind": "opencl", "max_num_threads": 64}, {"kind": "llvm", "mcpu": "x86-64-v2"})
    (ours,) = chipdock.tvm.modules(chipdock.tvm.compile(kernels.added(), target))
    assert ours.target["max_num_threads"] == 64 and ours.target["host"]["mcpu"] == "x86-64-v2"


def test_an_unknown_option_is_named_even_if_falling_back() -> None:
    for fallback in (False, True):
        with pytest.raises(ValueError, match='unknown option "jit"'):
            chipdock.tvm.compile(kernels.added(), {"kind": "llvm", "jit": "mcjit"}, fallback=fallback)


# ---- TVM-6 side effects ----


def test_unregister_puts_everything_back() -> None:
    executable = tvm.compile(kernels.added(), "llvm", tir_pipeline="chipdock")
    add = executable["add"]
    chipdock.tvm.unregister()
    assert "inspect_source" not in vars(tvm.runtime.Module)
    assert tvm.runtime.Module.export_library.__module__ == "tvm.runtime.module"
    with pytest.raises(ValueError, match="Unknown pre-built pipeline chipdock"):
        tvm.compile(kernels.added(), "llvm", tir_pipeline="chipdock")
    assert (kernels.call(tvm.compile(kernels.added(), "llvm")["add"], ONES) == 2).all()
    assert (kernels.call(add, ONES) == 2).all()
    chipdock.tvm.unregister()
    chipdock.tvm.register()
    chipdock.tvm.register()
    assert chipdock.tvm.modules(tvm.compile(kernels.added(), "llvm", tir_pipeline="chipdock"))


def test_importing_does_only_what_the_rule_says() -> None:
    program = """
        import tvm, tvm_ffi, chipdock
        from tvm.tirx.compilation_pipeline import PIPELINE_MAP
        names = lambda: set(tvm_ffi.registry.list_global_func_names())
        methods = lambda: {name: one for name, one in vars(tvm.runtime.Module).items()}
        before, pipelines, of_module = names(), dict(PIPELINE_MAP), methods()
        import chipdock.tvm
        assert names() == before, names() - before
        assert set(PIPELINE_MAP) - set(pipelines) == {"chipdock"}
        changed = {name for name, one in methods().items() if of_module.get(name) is not one}
        assert changed == {"export_library", "inspect_source"}, changed
        chipdock.tvm.unregister()
        assert PIPELINE_MAP == pipelines and methods() == of_module and names() == before
        print("good")
    """
    assert run_python(program) == "good"


# ---- TVM-10 threads ----


def test_two_threads_compile_at_once() -> None:
    found: dict[int, float] = {}

    def work(number: int) -> None:
        for at in range(3):
            add = chipdock.tvm.compile(kernels.added(by=number * 10 + at), ("llvm", "c")[number % 2], cache=False)["add"]
            found[number * 10 + at] = float(kernels.call(add, ONES)[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {key: key + 1.0 for key in (0, 1, 2, 10, 11, 12)}


def test_errors_of_chipdock_keep_their_class_through_tvm() -> None:
    assert issubclass(chipdock.tvm.NotTakenOver, NotImplementedError)
    raised = tvm_ffi.convert(lambda: _pipeline.take_over_blocks(kernels.added().with_attr("system_lib_prefix", ""), _pipeline.Options()))
    with pytest.raises(chipdock.tvm.NotTakenOver):
        raised()


def test_the_example_of_the_front_page_is_true() -> None:
    found = doctest.testmod(chipdock.tvm)
    assert found.attempted > 5 and not found.failed
