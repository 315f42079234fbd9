@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    with T.sblock(f"block_{1}"):
        A[0] = 1.0
