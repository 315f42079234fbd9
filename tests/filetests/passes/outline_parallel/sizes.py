# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        # Of any number of iterations, of a known number, of one, and in steps.
        T.func_attr({"tirx.noalias": True})
        n = T.int32()
        for i in T.parallel(n):
            B[i] = A[i] + T.float32(1)
        for i in T.parallel(2):
            B[i] = A[i] * T.float32(2)
        for i in T.parallel(1):
            B[i] = A[i] * T.float32(3)
        for i in T.parallel(0):
            B[i] = A[i] * T.float32(4)
        for i in T.parallel(1, n, step=3):
            B[i] = A[i] * T.float32(5)

    @T.prim_func
    def wide(A: T.Buffer(("m",), "float32")):
        m = T.int64()
        for i in T.parallel(m - T.int64(1)):
            A[i] = A[i] + T.float32(1)
