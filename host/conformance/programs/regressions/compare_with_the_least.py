# simplify wrapped the difference of the two sides of a comparison, and so decided it wrongly.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A0: T.Buffer((4,), "float32"), B0: T.Buffer((4, 2), "float64")):
        # with T.sblock("root"):
        for i in range(4):
            if T.Cast("int8", A0[i]) > T.int8(-128):
                B0[i, 0] = T.float64(2.0)
            if T.Cast("int8", A0[i]) + T.int8(100) > T.int8(-100):
                B0[i, 1] = T.float64(3.0)
