@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    try:
        A[0] = 1.0
    except ValueError:
        pass
    A[0] = [x for x in range(3)][0]
    A[0] = (lambda x: x)(1.0)
    del A
    import os
    a = b = 1
    A[0]: T.float32 = 1.0
    x: T.handle = A.data
    y: T.let[T.float32] = 1
    z: T.let[T.int32] = A[0]
    for i in range(8):
        pass
    else:
        A[0] = 1.0
