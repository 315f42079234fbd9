# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_int8dot(A: T.Buffer((32, 64), "int8"), B: T.Buffer((32, 64), "int8"), C: T.Buffer((32, 32), "int32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(32, thread="blockIdx.x"):
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                for k in range(64):
                    with T.sblock("C"):
                        vi, vj, vk = T.axis.remap("SSR", [bx, tx, k])
                        T.reads(A[vi, vk], B[vj, vk])
                        T.writes(C[vi, vj])
                        with T.init():
                            C[vi, vj] = 0
                        C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])
