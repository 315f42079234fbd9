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
        S = T.alloc_buffer((T.int64(16),), "int32")
        L = T.alloc_buffer((T.int64(32),))
        K = T.decl_buffer((T.int64(8),), data=M.data)
        for i in range(16):
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for i in range(16):
            S[T.Cast("int64", i)] = T.Cast("int32", M[T.Cast("int64", i)])
        for i in range(16):
            L[T.Cast("int64", i)] = T.Cast("float32", S[T.Cast("int64", i)])
            L[T.Cast("int64", i) + T.int64(16)] = L[T.Cast("int64", i)]
            K[T.Cast("int64", i % 8)] = L[T.Cast("int64", i) + T.int64(16)]
        for i in range(8):
            B_1[T.Cast("int64", i)] = L[T.Cast("int64", i)] + K[T.Cast("int64", i)]
