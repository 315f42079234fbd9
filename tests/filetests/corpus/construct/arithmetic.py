# Operators and the types that operands are made of.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def arithmetic(A: T.Buffer((16,), "float32"), H: T.Buffer((16,), "float16"), B: T.Buffer((16,), "int8"), U: T.Buffer((16,), "uint8"), W: T.Buffer((16,), "uint32"), L: T.Buffer((16,), "int64"), I32: T.Buffer((16,), "int32"), P: T.Buffer((16,), "bool"), D: T.Buffer((16,), "float64"), n: T.int32):
        T.func_attr({"tirx.noalias": True})
        A[0] = A[1] + 1
        A[0] = A[1] * 2.5 - A[2] / 3
        A[0] = -A[1]
        A[0] = A[n] + n
        H[0] = H[1] * 2
        H[0] = H[1] * 2.5
        D[0] = A[0] + D[1] * H[2]
        B[0] = B[1] + 1
        B[0] = B[1] + B[2]
        B[0] = 7
        U[0] = U[1] + U[2] * T.uint8(3)
        W[0] = W[1] + 1
        W[0] = W[1] + I32[2]
        W[0] = I32[2] + W[1]
        U[0] = B[1] * U[2] - B[2]
        A[0] = n + A[n]
        D[0] = H[2] + A[0] + D[1]
        H[0] = L[1] + H[0] + P[0]
        L[0] = W[1] + L[1]
        L[0] = n * L[1]
        L[0] = L[1] + n
        L[0] = L[1] + U[0]
        L[0] = 4294967296
        I32[0] = n // 3 + n % 5
        I32[0] = T.truncdiv(n, 3) + T.truncmod(n, 5)
        I32[0] = T.floordiv(n, 3) + T.floormod(n, 5)
        I32[0] = T.ceildiv(n, 4)
        I32[0] = n + P[0]
        I32[0] = (n + 1) * 2 - n * (3 - n)
        I32[0] = n - (n - 1) - 1
        I32[0] = 2 + 3 * 4
        I32[0] = A[0]
        A[0] = I32[0]
        P[0] = True
        P[1] = n < 3
