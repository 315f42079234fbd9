# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def innermost(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        # Of any size: blocks of a number of iterations.
        n = T.int32()
        for i in range(n):
            B[i] = A[i] + T.float32(1)

    @T.prim_func
    def begins_elsewhere(A: T.Buffer(("n",), "float32"), first: T.int32):
        n = T.int32()
        for i in range(first, first + n // 2):
            A[i] = A[i] * T.float32(2)

    @T.prim_func
    def in_steps(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        for i in T.serial(0, n, step=3):
            A[i] = T.float32(0)

    @T.prim_func
    def short(A: T.Buffer((64, 64), "float32")):
        # Known to be short: as it is.
        for i, j in T.grid(64, 64):
            A[i, j] = A[i, j] + T.float32(1)

    @T.prim_func
    def long(A: T.Buffer((64, 64), "float32"), n: T.int64):
        # Of known iterations: each row of a part is long enough, so that nothing around it asks.
        for k in range(n):
            for r in range(1000000):
                for i, j in T.grid(64, 64):
                    A[i, j] = A[i, j] + T.float32(1)
