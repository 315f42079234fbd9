# GELU by erf, of 4 M float32.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def gelu(A: T.Buffer((4194304,), "float32"), B: T.Buffer((4194304,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(4194304):
            with T.sblock("B"):
                vi = T.axis.spatial(4194304, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = T.float32(0.5) * A[vi] * (T.float32(1.0) + T.erf(A[vi] * T.float32(0.70710678)))
