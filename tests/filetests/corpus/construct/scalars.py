# tvm: accepted (a local scalar has no layout to TVM)
# Local scalars, lets, while, if.

@T.prim_func(s_tir=True)
def scalars(A: T.Buffer((64,), "float32"), n: T.int32):
    x = n + 1
    A[x] = 1.0
    x = x + 2
    x += 3
    y: T.int64 = n + 1
    A[y] = 2.0
    z: T.float32
    z = A[0]
    A[1] = z
    i = 0
    while i < 5:
        A[i] = 3.0
        if i == 3:
            i += 2
        elif i == 4:
            i += 3
        else:
            i += 1
    k: T.let[T.int32] = n * 2
    A[k] = 4.0
    j: T.let = n * 3
    A[j] = 5.0
    b: T.let[T.bool] = n < 3
    if b:
        A[2] = 6.0
    else:
        A[3] = 7.0
    A[4] += 1.0
    A[5] *= 2
    buf: T.float32[4]
    buf[0] = A[6]
    A[7] = buf[0]
    p, q = n + 1, n + 2
    A[p] = A[q]
    if True:
        A[8] = 8.0
    else:
        A[9] = 9.0
