# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1000,), "float32")):
        # Too many iterations, and too many statements.
        for i in T.unroll(1000):
            A[i] = T.float32(0)
        for i in T.unroll(250):
            for j in T.unroll(20):
                A[i] = A[i] + A[j]
