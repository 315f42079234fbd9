# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in T.unroll(2):
            E = T.alloc_buffer((1,), "float32")
            E[0] = A[i]
            x: T.let[T.float32] = E[0] * E[0]
            B[i] = x
