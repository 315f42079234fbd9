# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), s: T.float32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(16):
            B_1[T.Cast("int64", i) * T.int64(4):T.Cast("int64", i) * T.int64(4) + T.int64(4)] = A_1[T.Ramp(T.Cast("int64", i) * T.int64(4), T.int64(1), 4)] * T.Broadcast(s, 4)
