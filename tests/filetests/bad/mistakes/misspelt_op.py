@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        A[0, 0] = T.sqtr(A[0, 1])
        A[0, 1] = T.relu(A[0, 2])
        A[0, 2] = T.log_softmax(A[0, 3])
        A[0, 3] = T.Exp(A[0, 3])
        B[0] = T.pop_count(n)
        for i in T.pararell(16):
            B[i] = 1
        T.storage_sync("shared")
        T.syncthreads()
        C = T.alloc_bufer((4,), "float32")
