@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        A[i, 0] = 1.0
        for i in range(16):
            A[i, 0] = a[i, 0]
        A[i, 0] = total
        B[0] = m
        total += 1.0
        C[0] = 1.0
