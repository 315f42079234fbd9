# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32"), C: T.Buffer((512, 512), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in T.parallel(512):
            for jo in range(32):
                for ji in T.vectorized(16):
                    with T.sblock("init"):
                        vi = T.axis.spatial(512, i)
                        vj = T.axis.spatial(512, jo * 16 + ji)
                        T.reads()
                        T.writes(C[vi, vj])
                        C[vi, vj] = T.float32(0.0)
                for k in range(512):
                    for ji in T.vectorized(16):
                        with T.sblock("C"):
                            vi = T.axis.spatial(512, i)
                            vj = T.axis.spatial(512, jo * 16 + ji)
                            vk = T.axis.reduce(512, k)
                            T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                            T.writes(C[vi, vj])
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
