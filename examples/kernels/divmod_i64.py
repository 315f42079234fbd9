# Floor division and remainder as Python has them: A = Q * B + R, and R has the sign of B.
# A, B, Q, R: int64 [n]. B holds no zero.
# chipdock run examples/kernels/divmod_i64.py --target c --in A=a.npy --in B=b.npy --out Q=q.npy --out R=r.npy

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def divmod_i64(A: T.Buffer(("n",), "int64"), B: T.Buffer((n,), "int64"), Q: T.Buffer((n,), "int64"), R: T.Buffer((n,), "int64")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i in range(n):
            with T.sblock("QR"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(Q[vi], R[vi])
                Q[vi] = A[vi] // B[vi]
                R[vi] = A[vi] % B[vi]
