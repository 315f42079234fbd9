# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_castf16(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(256, bx * 128 + tx)
                    T.reads(A[vi])
                    T.writes(B[vi])
                    B[vi] = T.Cast("float16", A[vi])
