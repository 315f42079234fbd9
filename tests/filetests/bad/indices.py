@T.prim_func(s_tir=True)
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    A[0] = 1.0
    A[0, 0, 0] = 1.0
    A[0, 1.5] = 1.0
    A[0:4, 0] = 1.0
    A[0, 0:n] = 1.0
    A[0, 0:4] = A[0, T.Ramp(0, 1, 8)]
    A[n][0] = 1.0
    n[0] = 1.0
    n += 1
    A[T.Ramp(0, 1, 4), 0] = 1.0
