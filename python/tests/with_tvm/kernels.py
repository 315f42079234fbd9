"""Functions of TVM that the tests compile."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import tvm
from tvm import te
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def added(name: str = "add", by: float = 1.0, extent: int = 1024, dtype: str = "float32") -> tvm.IRModule:
    """A module of one function, which adds a number to each element."""
    source = te.placeholder((extent,), dtype, name="A")
    result = te.compute((extent,), lambda i: source[i] + te.const(by, dtype), name="B")
    return tvm.IRModule({name: te.create_prim_func([source, result]).with_attr("global_symbol", name)})


def dynamic() -> tvm.IRModule:
    """A function of any length."""
    n = te.var("n", "int32")
    source = te.placeholder((n,), "float32", name="A")
    result = te.compute((n,), lambda i: source[i] * te.const(2, "float32"), name="B")
    return tvm.IRModule({"twice": te.create_prim_func([source, result]).with_attr("global_symbol", "twice")})


@T.prim_func(s_tir=True)
def _refused(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"global_symbol": "refused"})
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.call_llvm_pure_intrin("float32", "llvm.sqrt", A[vi])


def refused() -> tvm.IRModule:
    """A function that Chipdock refuses, as it names an intrinsic of one compiler, and TVM compiles."""
    return tvm.IRModule({"refused": _refused})


def mixed() -> tvm.IRModule:
    """The one and the other."""
    return tvm.IRModule({**{var.name_hint: one for var, one in added().functions.items()}, "refused": _refused})


def tensor(array: Any, device: Any = None) -> Any:
    return tvm.runtime.tensor(np.asarray(array), device or tvm.cpu())


def call(function: Any, array: Any, device: Any = None) -> Any:
    """Calls a function of an array and a result of its shape; returns the result."""
    result = tensor(np.zeros_like(array), device)
    function(tensor(array, device), result)
    return result.numpy()


def script(text: str) -> str:
    return textwrap.dedent(text)


@I.ir_module(s_tir=True)
class Subroutine:
    """A function that calls another, which nobody else can."""

    @T.prim_func(private=True, s_tir=True)
    def twice(x: T.float32) -> T.float32:
        return x * T.float32(2)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.sblock("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Subroutine.twice(A[vi])


@I.ir_module(s_tir=True)
class AnyBatch:
    """Relax of any batch size."""

    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), w: R.Tensor((16, 8), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.nn.relu(y)
            R.output(z)
        return z
