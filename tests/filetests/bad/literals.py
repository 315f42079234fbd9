@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int8"), H: T.Buffer((8,), "float16")):
    B[0] = 300
    B[0] = T.int8(-129)
    B[0] = B[1] & 256
    H[0] = T.float16(70000.0)
    A[0] = 3.5e38
    A[0] = T.float32("infinite")
    A[0] = 123456789012345678901234567890
    A[0] = 10 ** 40
    A[0] = 2j
    B[0] = T.uint8(-1)
    A[0] = 18446744073709551615
