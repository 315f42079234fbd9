# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8, 16), "float32", strides=(32, 2)), B: T.Buffer((8, 16), "float32")):
        for i, j in T.grid(8, 16):
            B[i, j] = A[i, j]
