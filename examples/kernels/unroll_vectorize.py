# B = 0.5 A^2 + 2 A + 1, scheduled: 16 steps of 4 unrolled vectors of 16, with a tail cut off by T.where.
# A, B: float32 [1000].
# chipdock run examples/kernels/unroll_vectorize.py --target c --in A=a.npy --out B=b.npy

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def unroll_vectorize(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for io in T.serial(16):
            for iu in T.unroll(4):
                for iv in T.vectorized(16):
                    with T.sblock("B"):
                        vi = T.axis.spatial(1000, io * 64 + iu * 16 + iv)
                        T.where(io * 64 + iu * 16 + iv < 1000)
                        T.reads(A[vi])
                        T.writes(B[vi])
                        B[vi] = (T.float32(0.5) * A[vi] + T.float32(2.0)) * A[vi] + T.float32(1.0)
