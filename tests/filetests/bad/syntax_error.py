@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    for i in range(8)
        A[i] = 1.0
