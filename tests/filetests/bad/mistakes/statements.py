@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
        with open("f") as file:
            pass
        A[0, 0] == 1.0
        n = 3
        return A
        vi, vj = T.axis.remap("SX", [0, 1])
        T.reads(B[0])
        T.call_extern("f", n)
        B[0] = "text"
        T.prefetch(A[0, 0], [])
        T.evaluate(T.vscale())
        A[0, 0] = T.metal.simd_shuffle(A[0, 0], 1)
        T.cuda.cta_sync()
