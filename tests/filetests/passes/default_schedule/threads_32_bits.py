# target: device of 32 bits
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constant(A: T.Buffer((100, 30), "float32"), B: T.Buffer((100, 30), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(100, 30):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n, m), "float32")):
        n, m = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(n, m):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    @T.prim_func(s_tir=True)
    def one_axis(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), k: T.int32):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i in range(n):
            B[i] = A[i]
        for i in range(k):
            B[i] = A[i] + B[i]

    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4, 0), "float32")):
        for i, j in T.grid(4, 0):
            A[i, j] = T.float32(0)

    @T.prim_func(s_tir=True)
    def reduction(A: T.Buffer(("n", 1000), "int32"), B: T.Buffer((n,), "int32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(n, 1000):
            with T.sblock("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
