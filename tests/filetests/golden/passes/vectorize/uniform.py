# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def stores(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), m: T.int32, n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(4):
            if i < m:
                if 15 < n:
                    B_1[T.Cast("int64", i) * T.int64(16):T.Cast("int64", i) * T.int64(16) + T.int64(16)] = A_1[T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16)]
                else:
                    mask: T.let = T.Ramp(0, 1, 16) < T.Broadcast(n, 16)
                    T.masked_store(B_1, T.masked_load("float32x16", A_1, T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16), mask), T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16), mask)

    @T.prim_func
    def loads(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), m: T.int32, n: T.int32):
        mask = T.boolx16()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(4):
            B_1[T.Cast("int64", i) * T.int64(16):T.Cast("int64", i) * T.int64(16) + T.int64(16)] = T.if_then_else(i < m, T.Let(T.masked_load("float32x16", A_1, T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16), mask), where={mask: T.Ramp(0, 1, 16) < T.Broadcast(n, 16)}), T.Broadcast(T.float32(0.0), 16))

    @T.prim_func
    def reads_memory(A: T.Buffer((4, 16), "float32"), K: T.Buffer((4,), "int32"), B: T.Buffer((4, 16), "float32"), n: T.int32):
        mask = T.boolx16()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        K_1 = T.decl_buffer((T.int64(4),), "int32", data=K.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(4):
            mask_1: T.let = T.Let(T.And(mask, T.masked_load("int32x16", K_1, T.Broadcast(T.Cast("int64", i), 16), mask) > T.Broadcast(0, 16)), where={mask: T.Ramp(0, 1, 16) < T.Broadcast(n, 16)})
            T.masked_store(B_1, T.masked_load("float32x16", A_1, T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16), mask_1), T.Ramp(T.Cast("int64", i) * T.int64(16), T.int64(1), 16), mask_1)

    @T.prim_func
    def whole_vectors(A: T.Buffer((56,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((60,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(56),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        C_1 = T.decl_buffer((T.int64(60),), data=C.data)
        for i in range(8):
            B_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.if_then_else(i * 8 < 56, A_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)], T.Broadcast(T.float32(1.0), 8))
            if 40 <= i * 8 and i * 8 < 56:
                B_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = A_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] * B_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]
            if i * 8 <= i * 8 + 7 and i * 8 + 7 < 60:
                C_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = B_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]
            else:
                mask: T.let = T.Ramp(i * 8, 1, 8) < T.Broadcast(60, 8)
                T.masked_store(C_1, T.masked_load("float32x8", B_1, T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8), mask), T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8), mask)
            if i * 8 + 4 <= i * 8 + 11 and i * 8 + 11 < 56:
                C_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = A_1[T.Ramp(T.Cast("int64", i) * T.int64(8) + T.int64(4), T.int64(1), 8)]
            else:
                mask: T.let = T.Ramp(i * 8 + 4, 1, 8) < T.Broadcast(56, 8)
                T.masked_store(C_1, T.masked_load("float32x8", A_1, T.Ramp(T.Cast("int64", i) * T.int64(8) + T.int64(4), T.int64(1), 8), mask), T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8), mask)
