"""Compares what `chipdock.tvm` compiles with what TVM's own code generator does."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax

import chipdock
import chipdock.tvm

from cases import RELAX, TOPI, Case, relax_module, topi_module
from models import MODELS, model

#: Targets of the table. All but the processor's need a device API of TVM.
TARGETS = ("llvm", "c", "opencl")


def device_of(target: str) -> Any:
    """The device of TVM that code of a target runs on."""
    if target in ("llvm", "c"):
        return tvm.cpu()
    chipdock.tvm.register_devices(target)
    return tvm.device(target, 0)


def _shape_and_dtype(buffer: Any) -> tuple[tuple[int, ...], str]:
    return tuple(int(extent) for extent in buffer.shape), str(buffer.dtype)


def run_kernel(executable: Any, module: tvm.IRModule, arrays: list[Any], device: Any) -> list[Any]:
    """Runs a PrimFunc whose last parameter is the result."""
    function = module["main"]
    shape, dtype = _shape_and_dtype(function.params[-1])
    result = tvm.runtime.tensor(np.zeros(shape, dtype), device)
    executable["main"](*(tvm.runtime.tensor(array, device) for array in arrays), result)
    return [result.numpy()]


def _arrays_of(result: Any) -> list[Any]:
    return [result.numpy()] if hasattr(result, "numpy") else [one for part in result for one in _arrays_of(part)]


def run_model(executable: Any, name: str, arrays: list[Any], device: Any) -> list[Any]:
    """Runs a function of Relax on TVM's virtual machine."""
    machine = relax.VirtualMachine(executable, device)
    return _arrays_of(machine[name](*(tvm.runtime.tensor(array, device) for array in arrays)))


@dataclass(frozen=True)
class Verdict:
    """What came of a case on a target: `equal`, `differs` or `refused`, and why."""

    word: str
    reason: str = ""


def compare(found: list[Any], expected: list[Any], case: Case) -> Verdict:
    for one, other in zip(found, expected, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return Verdict("differs", f"{one.dtype}{one.shape} for {other.dtype}{other.shape}")
        if not np.allclose(one, other, rtol=case.rtol, atol=case.atol, equal_nan=True):
            greatest = np.abs(one.astype("float64") - other.astype("float64")).max()
            return Verdict("differs", f"by {greatest:.3g}")
    return Verdict("equal")


def _reason(error: Exception) -> str:
    """The reason of a refusal in a line, without places in a text that nobody has."""
    functions = getattr(error, "functions", None)
    text = functions[0].reason if functions else str(error)
    lines = [line.strip() for line in text.splitlines()]
    told = next((line for line in lines if "error:" in line), lines[1] if len(lines) > 1 and lines[0].endswith(")") else lines[0])
    return told.split("error: ", 1)[-1]


@functools.lru_cache(maxsize=None)
def _program(sort: str, name: str) -> tuple[tvm.IRModule, tuple[Any, ...], tuple[Any, ...]]:
    """A program with its arguments, and the results of TVM's own `llvm`."""
    if sort == "model":
        module, arrays = model(name)
    else:
        case = case_of(sort, name)
        module, arrays = (topi_module if sort == "topi" else relax_module)(case), case.arrays()
    return module, tuple(arrays), tuple(run(sort, tvm.compile(module, "llvm"), module, arrays, tvm.cpu()))


def case_of(sort: str, name: str) -> Case:
    if sort == "model":
        return Case(name, (), model, 1e-4, 1e-4)
    return next(one for one in {"topi": TOPI, "relax": RELAX}[sort] if one.name == name)


def programs() -> list[tuple[str, str]]:
    """All that is checked: its sort and name."""
    return [("topi", one.name) for one in TOPI] + [("relax", one.name) for one in RELAX] + [("model", name) for name in MODELS]


def run(sort: str, executable: Any, module: tvm.IRModule, arrays: Any, device: Any) -> list[Any]:
    if sort == "topi":
        return run_kernel(executable, module, arrays, device)
    return run_model(executable, "forward" if sort == "model" else "main", arrays, device)


@functools.lru_cache(maxsize=None)
def check(sort: str, name: str, target: str) -> Verdict:
    """Runs a program on a target and compares it with TVM's own `llvm`."""
    module, arrays, expected = _program(sort, name)
    try:
        made = chipdock.tvm.compile(module, target)
    except chipdock.tvm.NotTakenOver as error:
        return Verdict("refused", _reason(error))
    found = run(sort, made, module, arrays, device_of(target))
    return compare(found, list(expected), case_of(sort, name))


@functools.lru_cache(maxsize=None)
def check_lowered(name: str, target: str) -> Verdict:
    """Has TVM lower a kernel of TOPI and Chipdock compile it, and compares it with TVM's own `llvm`."""
    module, arrays, expected = _program("topi", name)
    chipdock.tvm.take_over(target)
    try:
        made = tvm.compile(module, target)
    except chipdock.tvm.NotTakenOver as error:
        return Verdict("refused", _reason(error))
    finally:
        chipdock.tvm.give_back(target)
    if not chipdock.tvm.modules(made):
        return Verdict("differs", "it is TVM's own")
    return compare(run("topi", made, module, arrays, tvm.cpu()), list(expected), case_of("topi", name))
