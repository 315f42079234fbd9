# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1,), "float32")):
        A[0] = T.float32(1)
