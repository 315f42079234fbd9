# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def large(A: T.Buffer((600,), "float32"), B: T.Buffer((600,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(600),), data=A.data)
        B_1 = T.decl_buffer((T.int64(600),), data=B.data)
        M = T.alloc_buffer((T.int64(600),))
        H = T.decl_buffer((T.int64(1200),), "float16", data=M.data)
        D = T.alloc_buffer((T.int64(300),), "float64")
        for i in range(600):
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] * T.float32(2.0)
        for i in range(600):
            B_1[T.Cast("int64", i)] = M[T.Cast("int64", i)]
        for i in range(1200):
            H[T.Cast("int64", i)] = T.Cast("float16", B_1[T.Cast("int64", i // 2)])
        for i in range(600):
            B_1[T.Cast("int64", i)] = T.Cast("float32", H[T.Cast("int64", i) * T.int64(2)])
        for i in range(300):
            D[T.Cast("int64", i)] = T.Cast("float64", B_1[T.Cast("int64", i)])
        for i in range(300):
            B_1[T.Cast("int64", i)] = T.Cast("float32", D[T.Cast("int64", i)]) + T.float32(1.0)

    @T.prim_func
    def small(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(16),), data=B.data)
        M = T.alloc_buffer((T.int64(16),))
        N = T.alloc_buffer((T.int64(16),), "int32")
        for i in range(16):
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for i in range(16):
            B_1[T.Cast("int64", i)] = M[T.Cast("int64", i)]
        for i in range(16):
            N[T.Cast("int64", i)] = T.Cast("int32", B_1[T.Cast("int64", i)])
        for i in range(16):
            B_1[T.Cast("int64", i)] = T.Cast("float32", N[T.Cast("int64", i)])

    @T.prim_func
    def symbolic(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n),), data=A.data)
        B_1 = T.decl_buffer((T.Cast("int64", n),), data=B.data)
        M = T.alloc_buffer((T.Cast("int64", n),))
        N = T.decl_buffer((T.Cast("int64", n),), "int32", data=M.data)
        for i in range(n):
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        for i in range(n):
            B_1[T.Cast("int64", i)] = M[T.Cast("int64", i)]
        for i in range(n):
            N[T.Cast("int64", i)] = T.Cast("int32", B_1[T.Cast("int64", i)])
        for i in range(n):
            B_1[T.Cast("int64", i)] = T.Cast("float32", N[T.Cast("int64", i)])
