# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def lanes(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64")):
        # No vectors: lanes that depend on each other, three lanes, two lanes that store one element, a function alone, lanes
        # whose steps reach the next iteration's.
        for v in T.vectorized(8):
            A[v + 1] = A[v]
        for v in T.vectorized(3):
            B[v] = A[v]
        for v in T.vectorized(8):
            B[v // 2] = A[v]
        for v in T.vectorized(8):
            B[v] = T.fmod(A[v], B[v])
        for v in T.vectorized(0, 4, step=2):
            for k in range(4):
                B[v + k * 4] = A[v]

    @T.prim_func
    def statements(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # An assertion; an index that memory says.
        for v in T.vectorized(4):
            assert A[v] > T.float32(-100), "above"
            B[v] = A[v]
        for v in T.vectorized(4):
            B[T.max(T.Cast("int32", A[v]), 0)] = T.float32(1)
