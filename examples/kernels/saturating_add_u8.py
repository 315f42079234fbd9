# C = A + B held at 255, and D = A - B held at 0: bytes that saturate instead of wrapping.
# A, B, C, D: uint8 [n].
# chipdock run examples/kernels/saturating_add_u8.py --target c --in A=a.npy --in B=b.npy --out C=c.npy --out D=d.npy

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def saturating_add_u8(A: T.Buffer(("n",), "uint8"), B: T.Buffer((n,), "uint8"), C: T.Buffer((n,), "uint8"), D: T.Buffer((n,), "uint8")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i in range(n):
            with T.sblock("CD"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(C[vi], D[vi])
                C[vi] = T.Cast("uint8", T.min(T.Cast("int32", A[vi]) + T.Cast("int32", B[vi]), 255))
                D[vi] = T.Cast("uint8", T.max(T.Cast("int32", A[vi]) - T.Cast("int32", B[vi]), 0))
