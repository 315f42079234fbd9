# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def compare(A: T.Buffer((8,), "float32"), H: T.Buffer((8,), "float16"), B: T.Buffer((8,), "int8"), P: T.Buffer((8,), "bool"), n: T.int32):
        # with T.sblock("root"):
        P[0] = n < 3
        P[0] = 0 <= n and n < 5
        P[0] = 0 <= n and n < 5 and not n == 3
        P[0] = n != 2 or n >= 7 and (n > 9 or n <= 1)
        P[0] = H[0] < T.float16(2.5)
        P[0] = B[0] == T.int8(2)
        P[0] = T.float16(2.5) <= H[0]
        P[0] = B[0] < T.int8(100)
        P[0] = P[1] == P[2]
        A[0] = T.Select(n < 3, A[1], A[2])
        A[0] = T.if_then_else(n < 3, A[1], T.float32(0.0))
        A[0] = T.if_then_else(n < 3, A[1], T.float32(2.0))
        A[0] = T.max(T.min(A[1], A[2]), T.float32(0.0))
        A[0] = T.max(A[1], T.Cast("float32", n))
        P[0] = n < 3 and not n < 1
        P[0] = n == 3 or n < 1
        P[0] = T.likely(n < 3)
