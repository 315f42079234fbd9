# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        Idx_1 = T.decl_buffer((T.int64(64),), "int32", data=Idx.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        B_1[T.int64(0):T.int64(8)] = A_1[T.Ramp(T.int64(0), T.int64(2), 8)] + A_1[T.Cast("int64x8", Idx_1[T.Ramp(T.int64(0), T.int64(1), 8)])]
        B_1[T.int64(0):T.int64(8)] = T.Select(Idx_1[T.Ramp(T.int64(0), T.int64(1), 8)] > T.Broadcast(3, 8), T.exp(A_1[T.Ramp(T.int64(0), T.int64(1), 8)]), T.Cast("float32x8", Idx_1[T.Ramp(T.int64(0), T.int64(1), 8)] * T.Broadcast(2, 8) + T.Ramp(0, 1, 8)))
