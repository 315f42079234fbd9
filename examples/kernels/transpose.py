# B = A with rows and columns swapped.
# A: float32 [m, n], B: float32 [n, m].
# chipdock run examples/kernels/transpose.py --target c --in A=a.npy --out B=b.npy

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def transpose(A: T.Buffer(("m", "n"), "float32"), B: T.Buffer((n, m), "float32")):
        m, n = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(n, m):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vj, vi])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vj, vi]
