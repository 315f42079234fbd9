# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def both_sides(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        Idx_1 = T.decl_buffer((T.int64(64),), "int32", data=Idx.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        mask: T.let = A_1[T.Ramp(T.int64(0), T.int64(1), 8)] > T.Broadcast(T.float32(0.0), 8)
        T.masked_store(B_1, T.masked_load("float32x8", A_1, T.Ramp(T.int64(0), T.int64(1), 8), mask) + T.masked_load("float32x8", A_1, T.Broadcast(T.Cast("int64", n), 8), mask), T.Ramp(T.int64(0), T.int64(1), 8), mask)
        T.masked_store(B_1, T.Broadcast(T.float32(0.0), 8), T.Ramp(T.int64(0), T.int64(1), 8), not mask)
        mask_1: T.let = T.masked_load("int32x8", Idx_1, T.Ramp(T.int64(0), T.int64(1), 8), not mask) == T.Broadcast(n, 8)
        T.masked_store(B_1, T.masked_load("float32x8", B_1, T.Ramp(T.int64(0), T.int64(1), 8), T.And(not mask, mask_1)) + T.Broadcast(T.float32(1.0), 8), T.Ramp(T.int64(0), T.int64(1), 8), T.And(not mask, mask_1))

    @T.prim_func
    def guarded_loads(A: T.Buffer((16,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        mask = T.boolx32()
        mask_1 = T.boolx32()
        mask_2 = T.boolx8()
        mask_3 = T.boolx8()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        Idx_1 = T.decl_buffer((T.int64(64),), "int32", data=Idx.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        B_1[T.int64(0):T.int64(32)] = T.Let(T.masked_load("float32x32", A_1, T.Cast("int64x32", T.masked_load("int32x32", Idx_1, T.Ramp(T.int64(0), T.int64(1), 32), mask)), mask), where={mask: T.Let(T.And(mask_1, T.masked_load("int32x32", Idx_1, T.Ramp(T.int64(0), T.int64(1), 32), mask_1) < T.Broadcast(16, 32)), where={mask_1: Idx_1[T.Ramp(T.int64(0), T.int64(1), 32)] >= T.Broadcast(0, 32)})})
        mask_4: T.let = T.Let(T.And(mask_2, T.masked_load("float32x8", A_1, T.Ramp(T.int64(0), T.int64(5), 8), mask_2) > T.Broadcast(T.float32(0.0), 8)), where={mask_2: T.Ramp(0, 1, 8) < T.Broadcast(4, 8)})
        T.masked_store(B_1, T.Broadcast(T.float32(2.0), 8), T.Ramp(T.int64(0), T.int64(1), 8), mask_4)
        mask_5: T.let = T.Let(T.Or(mask_3, T.masked_load("float32x8", A_1, T.Ramp(T.int64(0), T.int64(5), 8), not mask_3) > T.Broadcast(T.float32(0.0), 8)), where={mask_3: T.Ramp(0, 1, 8) > T.Broadcast(3, 8)})
        T.masked_store(B_1, T.masked_load("float32x8", B_1, T.Ramp(T.int64(0), T.int64(1), 8), mask_5) + T.Broadcast(T.float32(1.0), 8), T.Ramp(T.int64(0), T.int64(1), 8), mask_5)

    @T.prim_func
    def no_lane(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        mask: T.let = T.Ramp(0, 1, 8) > T.Broadcast(n + 7, 8)
        T.masked_store(B_1, T.masked_load("float32x8", A_1, T.Broadcast(T.Cast("int64", n + 16), 8), mask), T.Ramp(T.int64(0), T.int64(1), 8), mask)
        if n > 100:
            B_1[T.int64(0):T.int64(8)] = A_1[T.Ramp(T.Cast("int64", n), T.int64(1), 8)]
