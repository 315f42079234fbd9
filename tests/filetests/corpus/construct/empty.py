# Bodies of nothing; buffers without axes, and of extent 0.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4,), "float32")):
        T.evaluate(0)

    @T.prim_func(s_tir=True)
    def scalar(A: T.Buffer((), "float32"), B: T.Buffer((0,), "float32"), C: T.Buffer(4)):
        """A docstring is skipped."""
        A[()] = C[0]
        for i in range(0):
            B[i] = 1.0
