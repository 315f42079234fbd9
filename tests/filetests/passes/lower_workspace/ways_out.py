# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        E = T.alloc_buffer((n,), "float32")
        S = T.alloc_buffer((16,), "float32")
        for i in range(n):
            E[i] = A[i]
            assert E[i] > T.float32(0), ("ValueError", ["not positive"])
        for j in range(4):
            F = T.alloc_buffer((1000,), "float32")
            F[j] = E[0]
            F[999 - j] = F[j]
            S[j] = F[999 - j]
            A[j] = S[j]
