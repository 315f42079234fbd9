# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def arithmetic(A: T.Buffer((16,), "float32"), H: T.Buffer((16,), "float16"), B: T.Buffer((16,), "int8"), U: T.Buffer((16,), "uint8"), W: T.Buffer((16,), "uint32"), L: T.Buffer((16,), "int64"), I32: T.Buffer((16,), "int32"), P: T.Buffer((16,), "bool"), D: T.Buffer((16,), "float64"), n: T.int32):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        A[0] = A[1] + T.float32(1.0)
        A[0] = A[1] * T.float32(2.5) - A[2] / T.float32(3.0)
        A[0] = A[1] * T.float32(-1.0)
        A[0] = A[n] + T.Cast("float32", n)
        H[0] = H[1] * T.float16(2.0)
        H[0] = T.Cast("float16", T.Cast("float32", H[1]) * T.float32(2.5))
        D[0] = T.Cast("float64", A[0]) + D[1] * T.Cast("float64", H[2])
        B[0] = T.Cast("int8", T.Cast("int32", B[1]) + 1)
        B[0] = B[1] + B[2]
        B[0] = T.int8(7)
        U[0] = U[1] + U[2] * T.uint8(3)
        W[0] = W[1] + T.uint32(1)
        W[0] = W[1] + T.Cast("uint32", I32[2])
        W[0] = T.Cast("uint32", I32[2]) + W[1]
        U[0] = T.Cast("uint8", B[1]) * U[2] - T.Cast("uint8", B[2])
        A[0] = T.Cast("float32", n) + A[n]
        D[0] = T.Cast("float64", T.Cast("float32", H[2]) + A[0]) + D[1]
        H[0] = T.Cast("float16", L[1]) + H[0] + T.Cast("float16", P[0])
        L[0] = T.Cast("int64", W[1]) + L[1]
        L[0] = T.Cast("int64", n) * L[1]
        L[0] = L[1] + T.Cast("int64", n)
        L[0] = L[1] + T.Cast("int64", U[0])
        L[0] = T.int64(4294967296)
        I32[0] = n // 3 + n % 5
        I32[0] = T.truncdiv(n, 3) + T.truncmod(n, 5)
        I32[0] = n // 3 + n % 5
        I32[0] = (n + 4 - 1) // 4
        I32[0] = n + T.Cast("int32", P[0])
        I32[0] = (n + 1) * 2 - n * (3 - n)
        I32[0] = n - (n - 1) - 1
        I32[0] = 14
        I32[0] = T.Cast("int32", A[0])
        A[0] = T.Cast("float32", I32[0])
        P[0] = T.bool(True)
        P[1] = n < 3
