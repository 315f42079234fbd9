# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def branches(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for i in range(64):
            if i < 16:
                B_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
            else:
                B_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for i in range(64):
            if n >= 2 and n + 1 <= 4 and i >= n:
                B_1[T.int64(0)] = A_1[T.Cast("int64", T.min(n, 3))]
            if n > 5:
                B_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + T.float32(1.0)

    @T.prim_func
    def nothing(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        A_1[T.int64(5)] = T.float32(2.0)
        while n < 0 and n > 0:
            A_1[T.int64(0)] = T.float32(4.0)
