# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 77), "float32"), B: T.Buffer(("n", 77), "bool")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(1232),), data=A.data)
        B_1 = T.decl_buffer((T.Cast("int64", n) * T.int64(77),), "bool", data=B.data)
        E = T.alloc_buffer((T.int64(1232),))
        for i, j in T.grid(16, 77):
            E[T.Cast("int64", i) * T.int64(77) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.int64(77) + T.Cast("int64", j)]
        for i, j in T.grid(n, 77):
            B_1[T.Cast("int64", i) * T.int64(77) + T.Cast("int64", j)] = E[T.Cast("int64", j)] < T.float32(0.0)
