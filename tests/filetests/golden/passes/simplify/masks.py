# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def lanes(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for o in range(3):
            B_1[T.Cast("int64", o) * T.int64(8):T.Cast("int64", o) * T.int64(8) + T.int64(8)] = A_1[T.Ramp(T.Cast("int64", o) * T.int64(8), T.int64(1), 8)]
            B_1[T.Cast("int64", o) * T.int64(8) + T.int64(24):T.Cast("int64", o) * T.int64(8) + T.int64(24) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            some: T.let = T.Ramp(o * 8, 1, 8) < T.Broadcast(17, 8)
            T.masked_store(B_1, T.Broadcast(T.float32(7.0), 8), T.Ramp(T.Cast("int64", o) * T.int64(8), T.int64(1), 8), some)
