# C = A x B, 1000 x 333 by 333 x 777, float32: extents that are no multiples of vectors or tiles.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul_1000_777_333(A: T.Buffer((1000, 333), "float32"), B: T.Buffer((333, 777), "float32"), C: T.Buffer((1000, 777), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j, p in T.grid(1000, 777, 333):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                T.reads(A[vi, vp], B[vp, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]
