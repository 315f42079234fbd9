# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float64"), B: T.Buffer((8,), "bool")):
        A[0] = T.exp(A[1])
        A[1] = T.tanh(A[2])
        A[2] = T.sigmoid(A[3])
        A[3] = T.rsqrt(A[4]) + T.sqrt(A[4])
        A[4] = T.round(A[5])
        A[5] = T.erf(A[6]) + T.exp10(A[6])
        B[0] = T.isnan(A[0])
        B[1] = T.isinf(A[0])
        B[2] = T.isfinite(A[0])
        D[0] = T.exp(D[1]) + T.pow(D[1], D[2])
        for v in T.vectorized(4):
            A[v] = T.exp(A[v])
