# A parallel loop of two tasks that do almost nothing.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def parallel_2(A: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in T.parallel(2):
            with T.sblock("A"):
                vi = T.axis.spatial(2, i)
                T.reads(A[vi * 32])
                T.writes(A[vi * 32])
                A[vi * 32] = A[vi * 32] + T.float32(1)
