@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        if A:
            A[0, 0] = 1.0
        if A > 0:
            A[0, 0] = 1.0
        while A[0, 0:4] > T.Broadcast(T.float32(0), 4):
            A[0, 0] = 1.0
        if A[0, 0]:
            A[0, 0] = A + 1.0
        A = A * 2.0
        if A.any():
            pass
