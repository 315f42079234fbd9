# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scalars(A: T.Buffer((), "float32"), B: T.Buffer((2, 3, 4), "bool"), V: T.Buffer((4, 4), "float32x4")):
        # No axis, booleans, elements that are vectors, a vector of indices.
        A[()] = T.float32(1)
        B[1, 2, 3] = A[()] > T.float32(0)
        V[1, 2] = T.Broadcast(A[()], 4)

    @T.prim_func
    def vectors(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), i: T.int64):
        B[i, 0:4] = A[i, T.Ramp(0, 2, 4)]
