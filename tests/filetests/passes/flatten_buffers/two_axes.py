# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 77), "float32"), B: T.Buffer(("n", 77), "bool")):
        n = T.int32()
        E = T.alloc_buffer((16, 77), "float32")
        for i, j in T.grid(16, 77):
            E[i, j] = A[i, j]
        for i, j in T.grid(n, 77):
            B[i, j] = E[0, j] < T.float32(0)
