# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def rows(A: T.Buffer((45,), "float32"), B: T.Buffer((45,), "float32"), n: T.int32):
        for i in range(6):
            for v in T.vectorized(8):
                if i * 8 + v < 45:
                    B[i * 8 + v] = A[i * 8 + v] * T.float32(2.0)
        for v in T.vectorized(32):
            if v < n:
                B[v] = B[v] + T.float32(1.0)

    @T.prim_func
    def guards(A: T.Buffer((16,), "float32"), Idx: T.Buffer((32,), "int32"), B: T.Buffer((32,), "float32"), H: T.Buffer((32,), "float16")):
        for v in T.vectorized(32):
            B[v] = T.if_then_else(Idx[v] >= 0 and Idx[v] < 16, A[Idx[v]], T.float32(-1.0))
        for v in T.vectorized(32):
            if Idx[v] % 2 == 0:
                H[v] = T.Cast("float16", B[v])
            else:
                H[v] = H[v] + T.float16(1.0)
                if v > 20 or H[v] > T.float16(3.0):
                    H[v] = T.float16(0.0)

    @T.prim_func
    def own(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), N: T.Buffer((32,), "int32")):
        for v in T.vectorized(16):
            s = T.alloc_buffer((2,), scope="local")
            s[0] = T.float32(0.0)
            s[1] = T.atan2(A[v], T.float32(2.0))
            for k in range(N[v]):
                s[0] = s[0] + A[k]
            for k in range(2):
                s[0] = s[0] + A[v + k] * s[1]
            B[v] = s[0]
