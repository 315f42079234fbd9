# Rows of A picked by index; an index outside A gives a row of -1 and reads nothing.
# A: float32 [m, d], Idx: int32 [n], B: float32 [n, d].
# chipdock run examples/kernels/gather.py --target c --in A=a.npy --in Idx=i.npy --out B=b.npy

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def gather(A: T.Buffer(("m", "d"), "float32"), Idx: T.Buffer(("n",), "int32"), B: T.Buffer((n, d), "float32")):
        m, d = T.int32(), T.int32()
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(n, d):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Idx[vi], A[Idx[vi], vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.if_then_else(Idx[vi] >= 0 and Idx[vi] < m, A[Idx[vi], vj], T.float32(-1.0))
