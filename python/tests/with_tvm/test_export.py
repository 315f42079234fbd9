"""Export and inspection by TVM's own methods (TVM-8)."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import chipdock
import chipdock.tvm
from chipdock.tvm import _export

import checking
import kernels
import models

ONES = np.ones(1024, "float32")
#: Loads a library in a process of its own and writes what it computes of the arrays in a file.
PROGRAM = """
import sys
import numpy as np
import tvm
from tvm import relax

library, arrays, function, device = sys.argv[1:]
if device != "cpu":
    import chipdock.tvm
    chipdock.tvm.register_devices(device)
given = np.load(arrays)
args = [tvm.runtime.tensor(given[name], tvm.device(device, 0)) for name in given.files]
loaded = tvm.runtime.load_module(library)
if function == "forward":
    result = relax.VirtualMachine(loaded, tvm.device(device, 0))[function](*args)
else:
    result = tvm.runtime.empty(args[0].shape, "float32", tvm.device(device, 0))
    loaded[function](*args, result)
assert (device == "cpu") == ("chipdock" not in sys.modules)
np.save(arrays, result.numpy())
"""


def in_fresh_process(library: Path, function: str, device: str, arrays: list[Any]) -> Any:
    path = library.with_suffix(".npz")
    np.savez(path, *arrays)
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(library), str(path), function, device], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return np.load(f"{path}.npy")


def device_name(kind: str) -> str:
    return "cpu" if kind in ("llvm", "c") else kind


@pytest.mark.parametrize("options", [{}, {"options": ["-O1"]}], ids=["alone", "linked"])
@pytest.mark.parametrize("kind", ["llvm", "c", "opencl"])
def test_a_kernel_runs_in_a_fresh_process(kind: str, options: dict[str, Any], tmp_path: Path, opencl: object) -> None:
    chipdock.tvm.compile(kernels.added(), kind).export_library(tmp_path / "x.so", **options)
    assert (in_fresh_process(tmp_path / "x.so", "add", device_name(kind), [ONES]) == 2).all()


@pytest.mark.parametrize(("kind", "name"), [("llvm", "mlp"), ("c", "mlp"), ("opencl", "mlp")])
def test_a_model_runs_in_a_fresh_process(kind: str, name: str, tmp_path: Path, opencl: object) -> None:
    module, arrays = models.model(name)
    _, _, (expected,) = checking._program("model", name)
    executable = chipdock.tvm.compile(module, kind)
    executable.export_library(str(tmp_path / "x.so"))
    found = in_fresh_process(tmp_path / "x.so", "forward", device_name(kind), arrays)
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)
    # The module is as it was.
    assert chipdock.tvm.modules(executable)
    again = checking.run_model(executable, "forward", arrays, checking.device_of(kind))[0]
    assert np.allclose(again, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore::chipdock.tvm.FallbackWarning")
@pytest.mark.parametrize("kind", ["llvm"])
def test_what_fell_back_is_exported_with_ours(kind: str, tmp_path: Path) -> None:
    chipdock.tvm.compile(kernels.mixed(), kind, fallback=True).export_library(str(tmp_path / "x.so"))
    assert (in_fresh_process(tmp_path / "x.so", "add", "cpu", [ONES]) == 2).all()
    assert (in_fresh_process(tmp_path / "x.so", "refused", "cpu", [np.full(8, 4, "float32")]) == 2).all()


def test_device_code_is_a_child_of_the_library() -> None:
    # The library imports module 1, which imports module 2.
    numbers = [2 * 8 + 8 + 7 * 8 + 8 + 4 + 2 * (8 + 1 + 8 + 1), 4, 0, 1, 2, 2, 2, 1, 2]
    blob = struct.pack("<9Q", *numbers) + b"".join(
        struct.pack("<Q", len(kind)) + kind + (struct.pack("<Q", len(data)) + data if data else b"")
        for kind, data in ((b"_lib", b""), (b"a", b"1"), (b"b", b"2"))
    )
    tree = _export._Tree(blob)
    assert (tree.rows, tree.children) == ([0, 1, 2, 2], [1, 2])
    tree.embed(b"chipdock", b"code")
    again = _export._Tree(tree.to_bytes())
    children = [again.children[start:end] for start, end in zip(again.rows, again.rows[1:])]
    assert children == [[1, 3], [2], [], []]
    assert again.modules == [(b"_lib", b""), (b"a", b"1"), (b"b", b"2"), (b"chipdock", b"code")]
    assert len(tree.to_bytes()) == 8 + int.from_bytes(tree.to_bytes()[:8], "little")


def test_an_archive_of_objects(tmp_path: Path) -> None:
    chipdock.tvm.compile(kernels.added(), "llvm").export_library(str(tmp_path / "x.tar"))
    assert (kernels.call(tvm.runtime.load_module(str(tmp_path / "x.tar"))["add"], ONES) == 2).all()


def test_tvms_own_modules_are_exported_as_before(tmp_path: Path) -> None:
    tvm.compile(kernels.added(), "llvm").export_library(str(tmp_path / "x.so"))
    assert (in_fresh_process(tmp_path / "x.so", "add", "cpu", [ONES]) == 2).all()


def test_a_linker_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = chipdock.tvm.compile(models.model("mlp")[0], "llvm")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(chipdock.Unavailable, match="binutils"):
        executable.export_library(str(tmp_path / "x.so"))
    monkeypatch.undo()
    # Its imports are back in place after the failure.
    assert chipdock.tvm.modules(executable)


@pytest.mark.parametrize("kind", ["llvm", "c", "opencl"])
def test_inspection(kind: str) -> None:
    executable = chipdock.tvm.compile(kernels.added(), kind)
    source, lowered = executable.mod.inspect_source(), executable.mod.inspect_source("tir")
    assert "T.prim_func" in lowered and source
    assert ("int32_t" in source) == (kind == "c") and ("__kernel" in source or "kernel" in source) == (kind == "opencl")
    assert executable.mod.inspect_source("no such form") == ""
    assert executable.mod.kind == "library" and executable.mod.implements_function("add")
