# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        M = T.alloc_buffer((16,), "float32")
        S = T.alloc_buffer((16,), "float32")
        K = T.alloc_buffer((16,), "float32")
        for i in range(16):
            M[i] = A[i]
        for i in range(16):
            K[i] = M[i]
        for i in range(16):
            S[i] = K[i]
        for i in range(16):
            B[i] = S[i] + K[i]
