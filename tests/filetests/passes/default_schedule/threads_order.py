# target: device
# Loops that carry something along, stay in order, on the host where others inside do not.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prefix(A: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(63):
            A[i + 1] = A[i + 1] + A[i]

    @T.prim_func(s_tir=True)
    def steps(A: T.Buffer((8, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        for t in range(7):
            for i in range(64):
                A[t + 1, i] = A[t, 63 - i] * T.float32(0.5)
            A[t + 1, 0] = T.float32(1)

    @T.prim_func(s_tir=True)
    def digits(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            for j in range(8):
                B[i * 8 + j] = A[j * 8 + i]
        for i in range(8):
            for j in range(8):
                B[i * 7 + j] = A[j * 8 + i]

    @T.prim_func(s_tir=True)
    def may_overlap(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            B[i] = A[i]
        for i in T.parallel(64):
            B[i] = A[i]

    @T.prim_func(s_tir=True)
    def other_row(A: T.Buffer((2, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(64):
            A[1, i] = A[0, 63 - i]
        for i in range(64):
            A[1, i] = A[1, 63 - i]
