# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "int32"), n: T.int32):
        A[0] = n // 8 + n % 8
        A[1] = n // 7 + n % 7
        A[2] = n // A[3] + n % A[3]
        for i in range(64):
            A[i] = i // 7 + i % 7
