# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_dynshm(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((256,), scope="shared.dyn")
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                with T.sblock("S"):
                    vi = T.axis.spatial(256, tx)
                    T.reads(A[vi])
                    T.writes(S[vi])
                    S[vi] = A[vi]
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(256, tx)
                    T.reads(S[255 - vi])
                    T.writes(B[vi])
                    B[vi] = S[255 - vi]
