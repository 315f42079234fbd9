# What the tests of exported libraries call; `usleep` and `gettid` are the C library's.
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in range(n):
            C[i] = A[i] + B[i]

    @T.prim_func
    def softplus(A: T.Buffer(("n", 8), "float32"), B: T.Buffer((n, 8), "float32")):
        n = T.int32()
        for i, j in T.grid(n, 8):
            B[i, j] = T.log(T.exp(A[i, j]) + T.float32(1))

    @T.prim_func
    def transposed(A: T.Buffer((2, 3), "float64"), B: T.Buffer((3, 2), "float64")):
        for i, j in T.grid(2, 3):
            B[j, i] = A[i, j] * T.float64(2)

    @T.prim_func
    def strided(a: T.handle, B: T.Buffer((3, 2), "float32")):
        s = T.int32()
        A = T.match_buffer(a, (3, 2), "float32", strides=(s, 1))
        for i, j in T.grid(3, 2):
            B[i, j] = A[i, j]

    @T.prim_func
    def zero_d(A: T.Buffer((), "float32"), B: T.Buffer((), "float32")):
        B[()] = A[()] * T.float32(2)

    @T.prim_func
    def scalars(B: T.Buffer((5,), "float32"), i: T.int32, b: T.int8, u: T.uint8, p: T.bool, x: T.float32):
        B[0] = T.Cast("float32", i)
        B[1] = T.Cast("float32", b)
        B[2] = T.Cast("float32", u)
        B[3] = T.Cast("float32", p)
        B[4] = x

    @T.prim_func
    def twice(x: T.int32) -> T.int32:
        if x > 100:
            return 200
        return x * 2

    @T.prim_func
    def mean(A: T.Buffer(("n",), "float32")) -> T.float32:
        n = T.int32()
        E = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[i]
        assert E[0] < T.float32(100), ("ValueError", ["too large"])
        for i in range(n):
            if i > 0:
                E[0] = E[0] + E[i]
        return E[0] / T.Cast("float32", n)

    @T.prim_func
    def is_more(x: T.int64, y: T.float64) -> T.bool:
        return T.Cast("float64", x) > y

    @T.prim_func
    def calls(A: T.Buffer((8,), "int32"), n: T.int32):
        for i in range(8):
            A[i] = Module.twice(n + i) + 1

    @T.prim_func
    def asserts(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        assert n != 1, ("ValueError", ["one element"])
        assert n != 2, ("TypeError", ["two elements"])
        assert n != 3, ("RuntimeError", ["three elements"])
        assert n != 4, ("IndexError", ["four elements: grün"])
        assert n != 5, ("ThisIsNoClass", ["five elements"])
        A[0] = T.float32(1)

    @T.prim_func
    def in_parallel(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in T.parallel(n):
            F = T.alloc_buffer((512,))
            F[0] = A[i]
            assert F[0] < T.float32(1e9), ("ValueError", ["too large"])
            B[i] = F[0] + T.float32(1)

    @T.prim_func
    def in_parallel_bounded(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in T.parallel(n):
            assert A[i] < T.float32(100), ("ValueError", ["too large"])
            B[i] = A[i] + T.float32(1)

    @T.prim_func
    def threads(A: T.Buffer(("n",), "int32")):
        n = T.int32()
        for i in T.parallel(n):
            T.evaluate(T.call_extern("int32", "usleep", T.uint32(2000)))
            A[i] = T.call_extern("int32", "gettid")

    @T.prim_func
    def slow(A: T.Buffer((1,), "int32")):
        A[0] = T.call_extern("int32", "usleep", T.uint32(400000))

    @T.prim_func
    def reverse_bool(A: T.Buffer(("n",), "bool"), B: T.Buffer((n,), "bool")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_int8(A: T.Buffer(("n",), "int8"), B: T.Buffer((n,), "int8")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_int16(A: T.Buffer(("n",), "int16"), B: T.Buffer((n,), "int16")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_int32(A: T.Buffer(("n",), "int32"), B: T.Buffer((n,), "int32")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_int64(A: T.Buffer(("n",), "int64"), B: T.Buffer((n,), "int64")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_uint8(A: T.Buffer(("n",), "uint8"), B: T.Buffer((n,), "uint8")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_uint16(A: T.Buffer(("n",), "uint16"), B: T.Buffer((n,), "uint16")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_uint32(A: T.Buffer(("n",), "uint32"), B: T.Buffer((n,), "uint32")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_uint64(A: T.Buffer(("n",), "uint64"), B: T.Buffer((n,), "uint64")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_float16(A: T.Buffer(("n",), "float16"), B: T.Buffer((n,), "float16")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_bfloat16(A: T.Buffer(("n",), "bfloat16"), B: T.Buffer((n,), "bfloat16")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_float32(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]

    @T.prim_func
    def reverse_float64(A: T.Buffer(("n",), "float64"), B: T.Buffer((n,), "float64")):
        n = T.int32()
        for i in range(n):
            B[i] = A[n - 1 - i]
