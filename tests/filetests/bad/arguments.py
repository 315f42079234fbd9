@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32", scpoe="global"), n: T.int32):
    S = T.alloc_buffer((4,), scope="local", allign=4)
    A[0] = T.exp()
    A[0] = T.exp(A[1], A[2])
    A[0] = T.Select(n < 3, A[0])
    A[0] = T.pow(A[1], y=2, x=3)
    A[0] = T.max(*A)
    A[0] = T.fma(A[0], A[1])
    for i in T.serial(8, stp=2):
        A[i] = 1.0
    for i in range(0, 8, 0):
        A[i] = 1.0
    for i, j in range(8):
        A[i] = 1.0
    for i in A:
        A[i] = 1.0
    for i in T.thread_binding(8):
        A[i] = 1.0
    for i in T.thread_binding(8, thread="treadIdx.x"):
        A[i] = 1.0
