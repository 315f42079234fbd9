# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        C_1 = T.decl_buffer((T.int64(64),), data=C.data)
        for k in range(4):
            C_1[T.Cast("int64", k) * T.int64(8):T.Cast("int64", k) * T.int64(8) + T.int64(8)] = A_1[T.Ramp(T.int64(0), T.int64(1), 8)] * T.Broadcast(B_1[T.Cast("int64", k)], 8)
