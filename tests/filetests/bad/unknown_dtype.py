@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "flaot32"), B: T.Buffer((8,), "int7"), C: T.Buffer((8,), "handle")):
    A[0] = T.Cast("int33", B[0])
    C[0] = T.flaot32(1)
