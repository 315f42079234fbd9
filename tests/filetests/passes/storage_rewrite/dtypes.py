# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def large(A: T.Buffer((600,), "float32"), B: T.Buffer((600,), "float32")):
        # More than a stack takes: of another type too, as long as its elements are no larger.
        M = T.alloc_buffer((600,), "float32")
        H = T.alloc_buffer((1200,), "float16")
        D = T.alloc_buffer((300,), "float64")
        for i in range(600):
            M[i] = A[i] * T.float32(2)
        for i in range(600):
            B[i] = M[i]
        for i in range(1200):
            H[i] = T.Cast("float16", B[i // 2])
        for i in range(600):
            B[i] = T.Cast("float32", H[i * 2])
        for i in range(300):
            D[i] = T.Cast("float64", B[i])
        for i in range(300):
            B[i] = T.Cast("float32", D[i]) + T.float32(1)

    @T.prim_func
    def small(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        # What a stack takes is left to the compiler, but for the same type.
        M = T.alloc_buffer((16,), "float32")
        N = T.alloc_buffer((16,), "int32")
        for i in range(16):
            M[i] = A[i]
        for i in range(16):
            B[i] = M[i]
        for i in range(16):
            N[i] = T.Cast("int32", B[i])
        for i in range(16):
            B[i] = T.Cast("float32", N[i])

    @T.prim_func
    def symbolic(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        M = T.alloc_buffer((n,), "float32")
        N = T.alloc_buffer((n,), "int32")
        for i in range(n):
            M[i] = A[i]
        for i in range(n):
            B[i] = M[i]
        for i in range(n):
            N[i] = T.Cast("int32", B[i])
        for i in range(n):
            B[i] = T.Cast("float32", N[i])
