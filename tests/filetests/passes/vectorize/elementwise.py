# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), s: T.float32):
        for i in range(16):
            for v in T.vectorized(4):
                B[i * 4 + v] = A[i * 4 + v] * s
