# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(1024),), data=A.data)
        B_1 = T.decl_buffer((T.int64(1024),), data=B.data)
        for i, j in T.grid(64, 16):
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", j)] = A_1[T.Cast("int64", j) + T.Cast("int64", i) * T.int64(16)]
        for i in range(64):
            B_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        B_1[T.int64(0)] = A_1[T.int64(0)]
