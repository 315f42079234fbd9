@prim_func
def f(A: Buffer((16,), "float32"), n: int32):
    for i in serial(16):
        A[i] = exp(A[i])
    x: int32 = 3
    y = float32(3)
    alloc_buffer((4,), "float32")
    with sblock("x"):
        vi = axis.spatial(16, 0)
