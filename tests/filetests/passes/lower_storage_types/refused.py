# target: device
@T.prim_func
def threads(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "int4")):
    for tx in T.thread_binding(64, thread="threadIdx.x"):
        B[tx] = T.Cast("int4", A[tx])
