# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def unroll_vectorize(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for io in range(16):
            for iu in T.unroll(4):
                for iv in T.vectorized(16):
                    with T.sblock("B"):
                        vi = T.axis.spatial(1000, io * 64 + iu * 16 + iv)
                        T.where(io * 64 + iu * 16 + iv < 1000)
                        T.reads(A[vi])
                        T.writes(B[vi])
                        B[vi] = (T.float32(0.5) * A[vi] + T.float32(2.0)) * A[vi] + T.float32(1.0)
