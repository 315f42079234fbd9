@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        C = T.alloc_buffer((4,), dtype="float32", scop="local")
        for i in T.serial(16, step_size=2):
            B[i] = 1
        for i in T.thread_binding(16, axis="threadIdx.x"):
            B[i] = 1
        for i in T.parallel(16, num_threads=4):
            B[i] = 1
        T.call_extern("int32", "f", 1, device=0)
        A.vload([0, 0], type="float32x4")
        T.if_then_else(n > 3, 1, 2, cond=3)
