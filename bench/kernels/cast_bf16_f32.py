# bfloat16 to float32, 16 M elements.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def cast_bf16_f32(A: T.Buffer((16777216,), "bfloat16"), B: T.Buffer((16777216,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(16777216):
            with T.sblock("B"):
                vi = T.axis.spatial(16777216, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = T.Cast("float32", A[vi])
