# tvm: accepted (a number as a condition: TVM keeps it, here it is compared with 0)

@T.prim_func(s_tir=True)
def truth(A: T.Buffer((64,), "float32"), n: T.int32):
    if n:
        A[0] = 1.0
    while n & 3:
        A[1] = 1.0
