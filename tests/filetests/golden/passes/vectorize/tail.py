# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def row(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n),), data=A.data)
        B_1 = T.decl_buffer((T.Cast("int64", n),), data=B.data)
        for i in range((n + 7) // 8):
            if i * 8 <= i * 8 + 7 and i * 8 + 7 < n:
                B_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = A_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] * T.Broadcast(T.float32(2.0), 8)
            else:
                mask: T.let = T.Ramp(i * 8, 1, 8) < T.Broadcast(n, 8)
                T.masked_store(B_1, T.masked_load("float32x8", A_1, T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8), mask) * T.Broadcast(T.float32(2.0), 8), T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8), mask)

    @T.prim_func
    def two_bounds(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        if 15 < n * 3 and 30 <= n + 7:
            B_1[T.int64(0):T.int64(16)] = A_1[T.Ramp(T.int64(0), T.int64(2), 16)]
        else:
            mask: T.let = T.And(T.Ramp(0, 1, 16) < T.Broadcast(n * 3, 16), T.Ramp(0, 2, 16) <= T.Broadcast(n + 7, 16))
            T.masked_store(B_1, T.masked_load("float32x16", A_1, T.Ramp(T.int64(0), T.int64(2), 16), mask), T.Ramp(T.int64(0), T.int64(1), 16), mask)

    @T.prim_func
    def first_and_step(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        if 6 < n * 3:
            B_1[T.Ramp(T.int64(2), T.int64(4), 2)] = A_1[T.Ramp(T.int64(2), T.int64(4), 2)]
        else:
            mask: T.let = T.Ramp(2, 4, 2) < T.Broadcast(n * 3, 2)
            T.masked_store(B_1, T.masked_load("float32x2", A_1, T.Ramp(T.int64(2), T.int64(4), 2), mask), T.Ramp(T.int64(2), T.int64(4), 2), mask)
