@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), U: T.Buffer((8,), "uint8"), n: T.int32):
    A[n / 2] = 1.0
    A[0] = A[1] // A[2]
    A[0] = A[1] ** 2
    A[0] = A[1] @ A[2]
    A[0] = A[1] & A[2]
    A[0] = ~A[1]
    U[0] = -U[1]
    A[0] = A + 1.0
    A[0] = "text"
    if A is None:
        pass
    A[0] = T.exp(n)
    A[0] = T.popcount(A[1])
    A[0] = 1 // 0
    A[0] = A.data + 1
