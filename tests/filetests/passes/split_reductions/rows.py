# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((4, 77), "float32"), B: T.Buffer((4, 77), "float32")):
        # A maximum and a sum, with thirteen over.
        T.func_attr({"tirx.noalias": True})
        M = T.alloc_buffer((4,))
        S = T.alloc_buffer((4,))
        for i, k in T.grid(4, 77):
            with T.sblock("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-340282346638528859811704183484516925440.0)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, k in T.grid(4, 77):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk], M[vi])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
        for i, j in T.grid(4, 77):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] / S[vi]
