# tvm: refused (each function has something that TVM 0.27 does not take)

N = 16
HALF = N // 2


@I.ir_module
class Module:
    I.module_attrs({"version": 1})

    @T.prim_func(s_tir=True)
    def wide_size(A: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            A[i] = 1.0

    @T.prim_func(s_tir=True)
    def unquoted_size(A: T.Buffer((n, N), "float32")):
        n = T.int32()
        for i in range(n):
            A[i, HALF] = 1.0

    @T.prim_func(s_tir=True)
    def spread(A: T.Buffer((64,), "float32"), n: T.int32):
        A[0:4] = 1.0
        A[0:4] = A[4:8]
        A[4:12:2] = A[n:n + 4] + 1
        x: T.let[T.int64] = 1
        A[x] = 1.0
        assert n > 3
        y = n
        while y < 10:
            y += 1
            if y == 5:
                continue
            if y == 7:
                break
        for i in range(n, n + 17, 3):
            A[i] = 1.0
        if n > x:
            return

    @T.prim_func(s_tir=True)
    def compared(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "bool"), n: T.int32, m: T.int64):
        P[0] = n < m
        P[1] = n < 2.5
        P[2] = n < A[0]
        P[3] = P[0] and n

    @T.prim_func(s_tir=True)
    def predicated(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        B.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(4, 1, 4)], predicate=T.Broadcast(T.bool(True), 4)), predicate=T.Broadcast(T.bool(True), 4))
        B.vstore([8], A.vload([8], "float32x4"))
