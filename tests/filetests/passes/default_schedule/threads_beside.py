# target: device
# What is bound stays; asserts and choices that need no memory are the host's.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def beside(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"tirx.noalias": True})
        assert n > 3, "n must be large"
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            A[tx] = T.float32(0)
        if n > 10:
            for i in range(64):
                B[i] = A[i]
        else:
            B[n] = A[n]
            return
        B[0] = A[1]
        if A[0] > T.float32(0):
            return
        B[1] = A[2]
