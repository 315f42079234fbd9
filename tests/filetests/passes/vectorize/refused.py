# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32"), n: T.int32):
        # No vectors: lanes that depend on each other, three lanes, a branch by lane, a load that only some lanes may make, two
        # lanes that store one element, a C function.
        for v in T.vectorized(8):
            A[v + 1] = A[v]
        for v in T.vectorized(3):
            B[v] = A[v]
        for v in T.vectorized(8):
            if v < n:
                B[v] = A[v]
        for v in T.vectorized(8):
            B[v] = T.if_then_else(Idx[v] >= 0, A[Idx[v]], T.float32(0))
        for v in T.vectorized(8):
            B[v // 2] = A[v]
        for v in T.vectorized(8):
            B[v] = T.sin(A[v])
