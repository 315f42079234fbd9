# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        Idx_1 = T.decl_buffer((T.int64(64),), "int32", data=Idx.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for v in range(8):
            A_1[T.Cast("int64", v) + T.int64(1)] = A_1[T.Cast("int64", v)]
        for v in range(3):
            B_1[T.Cast("int64", v)] = A_1[T.Cast("int64", v)]
        for v in range(8):
            if v < n:
                B_1[T.Cast("int64", v)] = A_1[T.Cast("int64", v)]
        for v in range(8):
            B_1[T.Cast("int64", v)] = T.if_then_else(Idx_1[T.Cast("int64", v)] >= 0, A_1[T.Cast("int64", Idx_1[T.Cast("int64", v)])], T.float32(0.0))
        for v in range(8):
            B_1[T.Cast("int64", v // 2)] = A_1[T.Cast("int64", v)]
        for v in range(8):
            B_1[T.Cast("int64", v)] = T.sin(A_1[T.Cast("int64", v)])
