# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def full(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        # with T.sblock("root"):
        for i in range(16):
            B[i] = T.exp(A[i]) + T.sin(A[i]) + T.cos(A[i]) + T.tanh(A[i])

    @T.prim_func
    def short(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = T.exp(A[i]) + T.sqrt(A[i])

    @T.prim_func
    def mixed(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = T.if_then_else(i > 2, A[i], T.max(A[i], T.Cast("float32", i)))
        B[0] = T.float32(2.5)
        B[1] = T.float32(3.402823466e38)

    @T.prim_func
    def bare(A: T.Buffer((16,), "float32")):
        A[0] = T.float32(1.0)
