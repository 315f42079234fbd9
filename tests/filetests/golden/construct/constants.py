# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constants(A: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float64"), H: T.Buffer((64,), "float16"), G: T.Buffer((64,), "bfloat16"), L: T.Buffer((64,), "int64"), V: T.Buffer((64,), "uint64"), B: T.Buffer((64,), "int8"), I32: T.Buffer((64,), "int32")):
        # with T.sblock("root"):
        A[0] = T.float32(0.1)
        A[1] = T.float32(0.25)
        A[2] = T.float32(1.1754944e-38)
        A[3] = T.float32("inf")
        A[4] = T.float32("-inf")
        A[5] = T.float32("nan")
        A[6] = T.float32(-0.0)
        A[7] = T.float32(-3.402823466e38)
        A[8] = T.float32(-3.402823466e38)
        A[9] = T.float32(3.402823466e38)
        A[10] = T.float32("inf")
        A[11] = T.float32(3.0)
        A[12] = T.float32(16777216.0)
        D[0] = T.float64(0.1)
        D[1] = T.float64(5e-324)
        H[0] = T.float16(0.1)
        H[1] = T.float16(65500.0)
        G[0] = T.bfloat16(1.5)
        L[0] = T.int64(-9223372036854775808)
        L[1] = T.int64(9223372036854775807)
        L[2] = T.int64(-9223372036854775808)
        V[0] = T.uint64(9223372036854775807)
        B[0] = T.int8(-128)
        B[1] = T.int8(127)
        I32[0] = -2147483648
        I32[1] = 2147483647
        I32[2] = 127
        I32[3] = 1000
        I32[4] = 1021
