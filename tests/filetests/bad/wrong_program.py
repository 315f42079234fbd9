# What the reader takes, and validation does not.

@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    x = T.int32()
    A[x] = 1.0
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(A[vi])
            B[vi] = A[vi]
    break
