@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        A[0] = 1.0
        B[0, 1] = B[0][1]
        A[0, 0, 0] = A
        B[1.5] = B
        A[0][1] = 2.0
        B["x"] = 3
        A[0:4, 0] = 1.0
