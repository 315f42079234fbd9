# Constants of every type.

@T.prim_func(s_tir=True)
def constants(A: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float64"), H: T.Buffer((64,), "float16"), G: T.Buffer((64,), "bfloat16"), L: T.Buffer((64,), "int64"), V: T.Buffer((64,), "uint64"), B: T.Buffer((64,), "int8"), I32: T.Buffer((64,), "int32")):
    A[0] = T.float32(0.1)
    A[1] = 0.25
    A[2] = T.float32(1.1754943508222875e-38)
    A[3] = T.float32("inf")
    A[4] = T.float32("-inf")
    A[5] = T.float32("nan")
    A[6] = T.float32(-0.0)
    A[7] = T.float32(-340282346638528859811704183484516925440.0)
    A[8] = T.min_value("float32")
    A[9] = T.max_value("float32")
    A[10] = T.infinity("float32")
    A[11] = T.float32(3)
    A[12] = T.float32(16777217)
    D[0] = T.float64(0.1)
    D[1] = T.float64(5e-324)
    H[0] = T.float16(0.1)
    H[1] = T.float16(65504.0)
    G[0] = T.bfloat16(1.5)
    L[0] = T.int64(-9223372036854775808)
    L[1] = T.int64(9223372036854775807)
    L[2] = T.min_value("int64")
    V[0] = T.uint64(9223372036854775807)
    B[0] = T.int8(-128)
    B[1] = T.int8(127)
    I32[0] = -2147483648
    I32[1] = 2147483647
    I32[2] = 0x7F
    I32[3] = 1_000
    I32[4] = 2**10 - 24 // 7
