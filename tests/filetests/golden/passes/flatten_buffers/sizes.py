# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scalars(A: T.Buffer((), "float32"), B: T.Buffer((2, 3, 4), "bool"), V: T.Buffer((4, 4), "float32x4")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(1),), data=A.data)
        B_1 = T.decl_buffer((T.int64(24),), "bool", data=B.data)
        V_1 = T.decl_buffer((T.int64(16),), "float32x4", data=V.data)
        A_1[T.int64(0)] = T.float32(1.0)
        B_1[T.int64(23)] = A_1[T.int64(0)] > T.float32(0.0)
        V_1[T.int64(6)] = T.Broadcast(A_1[T.int64(0)], 4)

    @T.prim_func
    def vectors(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), i: T.int64):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        B_1[i * T.int64(8):i * T.int64(8) + T.int64(4)] = A_1[T.Ramp(i * T.int64(8), T.int64(2), 4)]
