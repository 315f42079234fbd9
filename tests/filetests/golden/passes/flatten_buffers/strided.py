# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A_handle: T.handle, B: T.Buffer((8, 16), "float32")):
        A = T.match_buffer(A_handle, (8, 16), strides=(32, 2))
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(255),), data=A.data)
        B_1 = T.decl_buffer((T.int64(128),), data=B.data)
        for i, j in T.grid(8, 16):
            B_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.int64(32) + T.Cast("int64", j) * T.int64(2)]
