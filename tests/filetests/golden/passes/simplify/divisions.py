# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def split(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(4096),), data=A.data)
        B_1 = T.decl_buffer((T.int64(4096),), data=B.data)
        for i, j, k in T.grid(16, 16, 16):
            B_1[T.Cast("int64", i) * T.int64(256) + T.Cast("int64", j) * T.int64(16) + T.Cast("int64", k)] = A_1[T.Cast("int64", i) * T.int64(256) + T.Cast("int64", j) * T.int64(16) + T.Cast("int64", k)]
        for i, j in T.grid(T.min(n, 64), 64):
            B_1[T.Cast("int64", i)] = A_1[T.Cast("int64", j) + T.Cast("int64", i) * T.int64(2)]
        for i in range(16):
            B_1[T.Cast("int64", i // 4) + T.int64(2)] = A_1[T.Cast("int64", i % 4)]
