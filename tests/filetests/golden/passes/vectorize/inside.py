# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def accumulators(A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(50),), data=A.data)
        B_1 = T.decl_buffer((T.int64(50),), data=B.data)
        acc = T.alloc_buffer((T.int64(16),), scope="local")
        for o in range(4):
            acc[T.int64(0):T.int64(16)] = T.Broadcast(T.float32(2.0), 16)
            B_v: T.let = T.Ramp(o * 16, 1, 16)
            mask: T.let = B_v < T.Broadcast(50, 16)
            T.masked_store(B_1, T.masked_load("float32x16", A_1, T.Cast("int64x16", B_v), mask) + acc[T.Ramp(T.int64(0), T.int64(1), 16)] + T.Broadcast(acc[T.Cast("int64", o)], 16), T.Cast("int64x16", B_v), mask)

    @T.prim_func
    def beyond(A: T.Buffer((40,), "float32"), B: T.Buffer((64,), "float32")):
        mask = T.boolx16()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(40),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        copy = T.alloc_buffer((T.int64(40),))
        for i in range(40):
            copy[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for o in range(4):
            B_1[T.Cast("int64", o) * T.int64(16):T.Cast("int64", o) * T.int64(16) + T.int64(16)] = T.Let(T.Select(mask, T.masked_load("float32x16", copy, T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16), mask), T.Broadcast(T.float32(1.0), 16)), where={mask: T.Ramp(o * 16, 1, 16) < T.Broadcast(40, 16)})

    @T.prim_func
    def decided(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for o in range(3):
            B_1[T.Cast("int64", o) * T.int64(16):T.Cast("int64", o) * T.int64(16) + T.int64(16)] = A_1[T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16)]
            B_1[T.Cast("int64", o) * T.int64(16):T.Cast("int64", o) * T.int64(16) + T.int64(16)] = B_1[T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16)] * T.Broadcast(T.float32(2.0), 16)

    @T.prim_func
    def zeros(A: T.Buffer((50,), "float32"), B: T.Buffer((64,), "float32")):
        mask = T.boolx16()
        mask_1 = T.boolx16()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(50),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for o in range(4):
            B_1[T.Cast("int64", o) * T.int64(16):T.Cast("int64", o) * T.int64(16) + T.int64(16)] = T.Let(T.masked_load("float32x16", A_1, T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16), mask), where={mask: T.Ramp(o * 16, 1, 16) < T.Broadcast(50, 16)})
            B_1[T.Cast("int64", o) * T.int64(16):T.Cast("int64", o) * T.int64(16) + T.int64(16)] = B_1[T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16)] + T.Let(T.Select(mask_1, T.masked_load("float32x16", A_1, T.Ramp(T.Cast("int64", o) * T.int64(16), T.int64(1), 16), mask_1), T.Broadcast(T.float32(-0.0), 16)), where={mask_1: T.Ramp(o * 16, 1, 16) < T.Broadcast(50, 16)})
