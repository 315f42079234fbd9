# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_transpose(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((64, 64), scope="shared")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for by in T.thread_binding(4, thread="blockIdx.y"):
                for ty in T.thread_binding(16, thread="threadIdx.y"):
                    for tx in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("S"):
                            vi = T.axis.spatial(64, bx * 16 + ty)
                            vj = T.axis.spatial(64, by * 16 + tx)
                            T.reads(A[vi, vj])
                            T.writes(S[vi, vj])
                            S[vi, vj] = A[vi, vj]
                for ty in T.thread_binding(16, thread="threadIdx.y"):
                    for tx in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("B"):
                            vi = T.axis.spatial(64, by * 16 + ty)
                            vj = T.axis.spatial(64, bx * 16 + tx)
                            T.reads(S[vj, vi])
                            T.writes(B[vi, vj])
                            B[vi, vj] = S[vj, vi]
