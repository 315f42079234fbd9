@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        for i in T.thread_binding(16, thread="threadIdx"):
            B[i] = 1
        for i in T.thread_binding(16, thread="threadidx.x"):
            B[i] = 1
        for i in T.thread_binding(16):
            B[i] = 1
        for i in T.thread_binding(16, thread=0):
            B[i] = 1
        with T.launch_thread("block.x", 4) as bx:
            B[bx] = 1
        for i in T.thread_binding(16, thread="blockIdx.w"):
            B[i] = 1
