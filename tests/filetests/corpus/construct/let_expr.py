# A let within an expression.

@T.prim_func(s_tir=True)
def let_expr(A: T.Buffer((64,), "float32"), n: T.int32):
    m = T.int32()
    A[T.Let(m * m + 1, where={m: n * 2})] = 1.0
