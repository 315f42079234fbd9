# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(16),), data=B.data)
        M = T.alloc_buffer((T.int64(16),))
        S = T.decl_buffer((T.int64(16),), data=M.data)
        K = T.alloc_buffer((T.int64(16),))
        for i in range(16):
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for i in range(16):
            K[T.Cast("int64", i)] = M[T.Cast("int64", i)]
        for i in range(16):
            S[T.Cast("int64", i)] = K[T.Cast("int64", i)]
        for i in range(16):
            B_1[T.Cast("int64", i)] = S[T.Cast("int64", i)] + K[T.Cast("int64", i)]
