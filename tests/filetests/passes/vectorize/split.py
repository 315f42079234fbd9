# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def extents(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        # More lanes than a vector has, no power of two of them, and two.
        for v in T.vectorized(1024):
            B[v] = A[v]
        for v in T.vectorized(12):
            B[v * 2] = A[v]
        for v in T.vectorized(2):
            B[v] = A[v + 2]
