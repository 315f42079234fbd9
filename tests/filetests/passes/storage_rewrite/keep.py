# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        # S has another type, L is larger than what is free; K takes what M is done with.
        M = T.alloc_buffer((16,), "float32")
        S = T.alloc_buffer((16,), "int32")
        L = T.alloc_buffer((32,), "float32")
        K = T.alloc_buffer((8,), "float32")
        for i in range(16):
            M[i] = A[i]
        for i in range(16):
            S[i] = T.Cast("int32", M[i])
        for i in range(16):
            L[i] = T.Cast("float32", S[i])
            L[i + 16] = L[i]
            K[i % 8] = L[i + 16]
        for i in range(8):
            B[i] = L[i] + K[i]
