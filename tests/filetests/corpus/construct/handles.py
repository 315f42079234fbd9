# Parameters that are handles, matched to buffers in the body.

@T.prim_func(s_tir=True)
def handles(a: T.handle, x: T.float32, b: T.handle):
    n = T.int32()
    s = T.int32()
    A = T.match_buffer(a, (n,), "float32", strides=(s,), elem_offset=0, align=64, offset_factor=1)
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i] * x
