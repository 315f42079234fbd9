# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(4):
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 0) * T.int64(2) + T.Cast("int64", 0)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 0)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 0) * T.int64(2) + T.Cast("int64", 1)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 0)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 1) * T.int64(2) + T.Cast("int64", 0)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 1)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 1) * T.int64(2) + T.Cast("int64", 1)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 1)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 2) * T.int64(2) + T.Cast("int64", 0)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 2)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 2) * T.int64(2) + T.Cast("int64", 1)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 2)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 3) * T.int64(2) + T.Cast("int64", 0)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 3)]
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 3) * T.int64(2) + T.Cast("int64", 1)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", 3)]
            for j in range(16):
                B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", j)]

    @T.prim_func
    def block(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        with T.attr({"note": "kept"}):
            B_1[T.Cast("int64", 0)] = A_1[T.Cast("int64", 0)]
            B_1[T.Cast("int64", 1)] = A_1[T.Cast("int64", 1)]
            B_1[T.Cast("int64", 2)] = A_1[T.Cast("int64", 2)]
            B_1[T.Cast("int64", 3)] = A_1[T.Cast("int64", 3)]
