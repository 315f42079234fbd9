# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def truth(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        if n != 0:
            A[0] = T.float32(1.0)
        while n & 3 != 0:
            A[1] = T.float32(1.0)
