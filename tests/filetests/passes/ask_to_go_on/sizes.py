# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def rows(A: T.Buffer(("n", "m"), "float32")):
        # The iterations of a block of rows depend on the size of a row.
        n = T.int32()
        m = T.int32()
        for i in range(n):
            for j in range(m):
                A[i, j] = A[i, j] + T.float32(1)

    @T.prim_func
    def triangle(A: T.Buffer(("n", "n"), "float32")):
        # What a row has is known within the loop alone.
        n = T.int32()
        for i in range(n):
            for j in range(i):
                A[i, j] = A[i, j] + T.float32(1)

    @T.prim_func
    def parallel(A: T.Buffer(("n", "m"), "float32")):
        # Each task asks.
        n = T.int32()
        m = T.int32()
        for i in T.parallel(n):
            for j in range(m):
                A[i, j] = A[i, j] + T.float32(1)

    @T.prim_func
    def with_workspace(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        W = T.alloc_buffer((n,), "float32")
        for i in range(n):
            W[i] = A[i] + T.float32(1)
        for i in range(n):
            A[i] = W[n - 1 - i]
