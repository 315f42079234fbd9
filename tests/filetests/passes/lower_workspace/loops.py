# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((512,), "float32"), B: T.Buffer((512,), "float32"), n: T.int32):
        # In loops that are left, and in a parallel one.
        for i in range(n):
            E = T.alloc_buffer((512,))
            for j in range(512):
                E[j] = A[j]
            if E[0] > T.float32(0):
                break
            B[i] = E[i]
        for i in T.parallel(4):
            F = T.alloc_buffer((512,))
            for j in range(512):
                F[j] = A[j]
            B[i] = F[i]
