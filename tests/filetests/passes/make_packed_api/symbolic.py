# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n",), "float32"), k: T.int8, B: T.Buffer((n, 4), "float32")):
        n = T.int32()
        for i in range(n):
            B[i, 0] = A[i] + T.Cast("float32", k)
