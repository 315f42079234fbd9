# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_matmul(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32"), C: T.Buffer((512, 512), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for by in T.thread_binding(32, thread="blockIdx.y"):
            for bx in T.thread_binding(32, thread="blockIdx.x"):
                for ty in T.thread_binding(16, thread="threadIdx.y"):
                    for tx in T.thread_binding(16, thread="threadIdx.x"):
                        for k in range(512):
                            with T.sblock("C"):
                                vi = T.axis.spatial(512, by * 16 + ty)
                                vj = T.axis.spatial(512, bx * 16 + tx)
                                vk = T.axis.reduce(512, k)
                                T.reads(A[vi, vk], B[vk, vj])
                                T.writes(C[vi, vj])
                                with T.init():
                                    C[vi, vj] = T.float32(0.0)
                                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
