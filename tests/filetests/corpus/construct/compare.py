# Comparisons, booleans, choices.

@T.prim_func(s_tir=True)
def compare(A: T.Buffer((8,), "float32"), H: T.Buffer((8,), "float16"), B: T.Buffer((8,), "int8"), P: T.Buffer((8,), "bool"), n: T.int32):
    P[0] = n < 3
    P[0] = 0 <= n < 5
    P[0] = 0 <= n and n < 5 and not n == 3
    P[0] = n != 2 or n >= 7 and (n > 9 or n <= 1)
    P[0] = H[0] < 2.5
    P[0] = B[0] == 2
    P[0] = 2.5 <= H[0]
    P[0] = B[0] < 100
    P[0] = P[1] == P[2]
    A[0] = T.Select(n < 3, A[1], A[2])
    A[0] = T.if_then_else(n < 3, A[1], 0)
    A[0] = A[1] if n < 3 else T.float32(2.0)
    A[0] = T.max(T.min(A[1], A[2]), 0)
    A[0] = T.max(A[1], n)
    P[0] = T.And(n < 3, T.Not(n < 1))
    P[0] = T.Or(T.EQ(n, 3), T.LT(n, 1))
    P[0] = T.likely(n < 3)
