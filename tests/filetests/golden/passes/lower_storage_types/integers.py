# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def unpack(W: T.Buffer((37,), "int4"), M: T.Buffer((37,), "uint1"), B: T.Buffer((37,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        W_1 = T.decl_buffer((T.int64(19),), "uint8", data=W.data)
        M_1 = T.decl_buffer((T.int64(5),), "uint8", data=M.data)
        B_1 = T.decl_buffer((T.int64(37),), data=B.data)
        for i in range(37):
            B_1[T.Cast("int64", i)] = T.if_then_else(T.Cast("bool", T.Cast("uint8", T.Cast("uint32", M_1[T.Cast("int64", i) // T.int64(8)]) >> T.Cast("uint32", T.Cast("int64", i) % T.int64(8)) & T.uint32(1))), T.Cast("float32", T.Cast("int8", T.Cast("int32", T.Cast("uint32", W_1[T.Cast("int64", i) // T.int64(2)]) >> T.Cast("uint32", T.Cast("int64", i) % T.int64(2)) * T.uint32(4) & T.uint32(15) ^ T.uint32(8)) - 8)), T.float32(0.0))

    @T.prim_func
    def pack(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "int4")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(40),), data=A.data)
        B_1 = T.decl_buffer((T.int64(20),), "uint8", data=B.data)
        for i in T.parallel(20):
            for j in range(2):
                value: T.let[T.uint32] = T.Cast("uint32", T.Cast("int8", T.min(T.max(T.Cast("int32", A_1[T.Cast("int64", i) * T.int64(2) + T.Cast("int64", j)]), -8), 7)))
                at: T.let[T.int64] = T.Cast("int64", i) * T.int64(2) + T.Cast("int64", j)
                B_1[at // T.int64(2)] = T.Cast("uint8", T.Cast("uint32", B_1[at // T.int64(2)]) & T.bitwise_not(T.uint32(15) << T.Cast("uint32", at % T.int64(2)) * T.uint32(4)) | (value & T.uint32(15)) << T.Cast("uint32", at % T.int64(2)) * T.uint32(4))

    @T.prim_func
    def pack_one_by_one(A: T.Buffer((40,), "int32"), B: T.Buffer((40,), "uint4")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(40),), "int32", data=A.data)
        B_1 = T.decl_buffer((T.int64(20),), "uint8", data=B.data)
        for i in range(40):
            value: T.let[T.uint32] = T.Cast("uint32", T.Cast("uint8", T.Cast("uint32", A_1[T.Cast("int64", i)]) & T.uint32(15)))
            at: T.let[T.int64] = T.Cast("int64", i)
            B_1[at // T.int64(2)] = T.Cast("uint8", T.Cast("uint32", B_1[at // T.int64(2)]) & T.bitwise_not(T.uint32(15) << T.Cast("uint32", at % T.int64(2)) * T.uint32(4)) | (value & T.uint32(15)) << T.Cast("uint32", at % T.int64(2)) * T.uint32(4))
        value: T.let = T.Cast("uint32x8", T.Cast("uint8x8", T.Cast("uint32x8", A_1[T.Ramp(T.int64(8), T.int64(1), 8)]) & T.Broadcast(T.uint32(15), 8)))
        B_1[T.int64(0):T.int64(4)] = T.Cast("uint8x4", (T.Shuffle([value], [0, 2, 4, 6]) & T.Broadcast(T.uint32(15), 4)) << T.Broadcast(T.uint32(0), 4) | (T.Shuffle([value], [1, 3, 5, 7]) & T.Broadcast(T.uint32(15), 4)) << T.Broadcast(T.uint32(4), 4))

    @T.prim_func
    def in_between(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(40),), data=A.data)
        B_1 = T.decl_buffer((T.int64(40),), data=B.data)
        T_1 = T.alloc_buffer((T.int64(40),), "int8")
        for i in range(40):
            T_1[T.Cast("int64", i)] = T.Cast("int8", T.min(T.max(T.Cast("int32", A_1[T.Cast("int64", i)]), -8), 7))
        for i in range(40):
            B_1[T.Cast("int64", i)] = T.Cast("float32", T_1[T.int64(39) - T.Cast("int64", i)])
