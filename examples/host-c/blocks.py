# C = A + B with one element for each block, so that whoever has N elements can launch the kernel: N blocks.
# A, B, C: float32 [n], any n.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def vector_add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i in T.thread_binding(n, thread="blockIdx.x"):
            with T.sblock("C"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(C[vi])
                C[vi] = A[vi] + B[vi]
