# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def let_expr(A: T.Buffer((64,), "float32"), n: T.int32):
        m = T.int32()
        # with T.sblock("root"):
        A[T.Let(m * m + 1, where={m: n * 2})] = T.float32(1.0)
