@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.sblock("A"):
            vi = T.axis.spatail(8, i)
            A[vi] = T.expp(A[vi])
    T.syncthreads()
