# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32")):
        S = T.alloc_buffer((16,), "float32", scope="texture")
        for i in range(16):
            S[i] = A[i]
        for i in range(16):
            A[i] = S[15 - i]
