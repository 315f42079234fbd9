# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((16, 77), "float32"), B: T.Buffer((16, 77), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        M = T.alloc_buffer((16,))
        E = T.alloc_buffer((16, 77))
        S = T.alloc_buffer((16,))
        for i, k in T.grid(16, 77):
            with T.sblock("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(M[vi])
                with T.init():
                    M[vi] = T.float32(-3.402823466e38)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(16, 77):
            with T.sblock("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], M[vi])
                T.writes(E[vi, vj])
                E[vi, vj] = T.exp(A[vi, vj] - M[vi])
        for i, k in T.grid(16, 77):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(E[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(16, 77):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(E[vi, vj], S[vi])
                T.writes(B[vi, vj])
                B[vi, vj] = E[vi, vj] / S[vi]
