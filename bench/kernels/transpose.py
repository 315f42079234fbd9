# Transposition of 4096 x 4096 float32.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def transpose(A: T.Buffer((4096, 4096), "float32"), B: T.Buffer((4096, 4096), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(4096, 4096):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vj, vi])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vj, vi]
