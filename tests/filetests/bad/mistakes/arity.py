@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        A[0, 0] = T.exp()
        A[0, 0] = T.exp(A[0, 0], A[0, 1])
        A[0, 0] = T.pow(A[0, 0])
        A[0, 0] = T.Select(n > 3, A[0, 0])
        A[0, 0] = T.if_then_else(n > 3, A[0, 0])
        B[0] = T.max(n)
        B[0] = T.Cast("int32")
        T.tvm_storage_sync()
        A[0, 0] = T.tvm_warp_shuffle_down(A[0, 0], 16)
        with T.sblock("b"):
            vi = T.axis.spatial(16)
        B[0] = T.floormod(n, 2, 3)
