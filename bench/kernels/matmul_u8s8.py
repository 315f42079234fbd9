# C = A x B, 1024 x 1024 by 1024 x 1024: uint8 by int8 into int32.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul_u8s8(A: T.Buffer((1024, 1024), "uint8"), B: T.Buffer((1024, 1024), "int8"), C: T.Buffer((1024, 1024), "int32")):
        T.func_attr({"tirx.noalias": True})
        for i, j, p in T.grid(1024, 1024, 1024):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                T.reads(A[vi, vp], B[vp, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vp]) * T.Cast("int32", B[vp, vj])
