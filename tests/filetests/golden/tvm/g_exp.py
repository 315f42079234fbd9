# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_exp(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(1000, bx * 128 + tx)
                    T.where(bx * 128 + tx < 1000)
                    T.reads(A[vi])
                    T.writes(B[vi])
                    B[vi] = T.exp(A[vi])
