# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def quoted(A: T.Buffer(("n", n + 1, "2 * m"), "float32"), B: T.Buffer((m, n), "float32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            A[i, i, 0] = B[0, i]

    @T.prim_func(s_tir=True)
    def undeclared(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        # with T.sblock("root"):
        for i in range(n):
            A[i] = T.float32(1.0)

    @T.prim_func(s_tir=True)
    def parameter(A: T.Buffer(("n",), "float32"), n: T.int64):
        # with T.sblock("root"):
        for i in range(n):
            A[i] = T.float32(1.0)

    @T.prim_func(s_tir=True)
    def before(n: T.int32, A: T.Buffer((n * 2,), "float32")):
        # with T.sblock("root"):
        for i in range(n * 2):
            A[i] = T.float32(1.0)
