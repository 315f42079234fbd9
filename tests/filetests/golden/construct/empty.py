# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(s_tir=True)
    def scalar(A: T.Buffer((), "float32"), B: T.Buffer((0,), "float32"), C: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        A[()] = C[0]
        for i in range(0):
            B[i] = T.float32(1.0)
