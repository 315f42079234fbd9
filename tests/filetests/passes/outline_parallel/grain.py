# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((32,), "int32"), least: T.int64):
        # A number of iterations for each task that is known, of a size, of a scalar, and of what is bound before the loop.
        n = T.int32()
        m = T.int32()
        for i in T.parallel(n, annotations={"chipdock.grain": 100}):
            for j in range(m):
                A[i, j] = A[i, j] + T.float32(1)
        for i in T.parallel(n, annotations={"chipdock.grain": 6 // (m + 1)}):
            for j in range(m):
                A[i, j] = A[i, j] * T.float32(2)
        for i in T.parallel(32, annotations={"chipdock.grain": least}):
            B[i] = B[i] + 1
        for i in range(2):
            twice: T.let[T.int32] = i * 2 + n
            for j in T.parallel(0, n, annotations={"chipdock.grain": twice}):
                B[i + j] = B[i + j] + j

    @T.prim_func
    def constant(A: T.Buffer((32,), "int32")):
        # Too few iterations for a second task, within which nothing is launched either; enough for four; a grain of 0.
        for i in T.parallel(4, annotations={"chipdock.grain": 3}):
            for j in T.parallel(8):
                A[i * 8 + j] = A[i * 8 + j] + i
        for i in T.parallel(32, annotations={"chipdock.grain": 7}):
            A[i] = A[i] * 3
        for i in T.parallel(32, annotations={"chipdock.grain": 0}):
            A[i] = A[i] - 1

    @T.prim_func(s_tir=True)
    def blocks(A: T.Buffer((4, 32), "int32")):
        # A grain in terms of the values of a block's axes.
        for i in range(4):
            with T.sblock("rows"):
                vi = T.axis.spatial(4, i)
                for j in T.parallel(32, annotations={"chipdock.grain": vi * 8 + 1}):
                    A[vi, j] = A[vi, j] + vi
