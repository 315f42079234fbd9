# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def function(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64"), C: T.Buffer((64,), "float64"), N: T.Buffer((64,), "int32")):
        # One function that is no arithmetic, with the names that it needs, and the condition that it stands under.
        for v in T.vectorized(8):
            x: T.let[T.float64] = A[v] * T.float64(2)
            y: T.let[T.float64] = T.fmod(x, T.float64(3))
            B[v] = x + T.float64(1)
            if N[v] > 3:
                C[v] = x
                B[v] = y + B[v]

    @T.prim_func
    def bounds(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32"), N: T.Buffer((64,), "int32")):
        # A loop with bounds by lane, and one that is left.
        for v in T.vectorized(8):
            C[v] = T.float32(0)
            for k in range(N[v]):
                C[v] = C[v] + A[k]
            B[v] = C[v] * C[v]
        for v in T.vectorized(8):
            B[v] = B[v] + T.float32(1)
            for k in range(4):
                if A[v + k * 8] > T.float32(0):
                    break
                B[v] = B[v] + A[v + k * 8]
