# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    I.module_attrs({"version": 1})

    @T.prim_func(s_tir=True)
    def wide_size(A_handle: T.handle):
        n = T.int64()
        A = T.match_buffer(A_handle, (n,))
        # with T.sblock("root"):
        for i in range(n):
            A[i] = T.float32(1.0)

    @T.prim_func(s_tir=True)
    def unquoted_size(A: T.Buffer(("n", 16), "float32")):
        n = T.int32()
        # with T.sblock("root"):
        for i in range(n):
            A[i, 8] = T.float32(1.0)

    @T.prim_func(s_tir=True)
    def spread(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        A[0:4] = T.Broadcast(T.float32(1.0), 4)
        A[0:4] = A[T.Ramp(4, 1, 4)]
        A[T.Ramp(4, 2, 4)] = A[T.Ramp(n, 1, 4)] + T.Broadcast(T.float32(1.0), 4)
        x: T.let[T.int64] = T.int64(1)
        A[x] = T.float32(1.0)
        assert n > 3, ("RuntimeError", ["assertion failed"])
        y = T.alloc_buffer((1,), "int32", scope="local")
        y[0] = n
        while y[0] < 10:
            y[0] = y[0] + 1
            if y[0] == 5:
                continue
            if y[0] == 7:
                break
        for i in T.serial(n, n + 18, step=3):
            A[i] = T.float32(1.0)
        if T.Cast("int64", n) > x:
            return

    @T.prim_func(s_tir=True)
    def compared(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "bool"), n: T.int32, m: T.int64):
        # with T.sblock("root"):
        P[0] = T.Cast("int64", n) < m
        P[1] = T.Cast("float32", n) < T.float32(2.5)
        P[2] = T.Cast("float32", n) < A[0]
        P[3] = P[0] and n != 0

    @T.prim_func(s_tir=True)
    def predicated(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # with T.sblock("root"):
        T.masked_store(B, T.masked_load("float32x4", A, T.Ramp(4, 1, 4), T.Broadcast(T.bool(True), 4)), T.Ramp(0, 1, 4), T.Broadcast(T.bool(True), 4))
        B[8:12] = A[T.Ramp(8, 1, 4)]
