# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def typed(A: T.Buffer(("m",), "float32"), B: T.Buffer((m,), "float32")):
        m = T.int64()
        # with T.sblock("root"):
        for i in range(m):
            A[i] = B[i]
