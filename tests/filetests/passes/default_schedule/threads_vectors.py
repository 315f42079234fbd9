# target: device
# Vectors where the innermost extent is known to be one of them, and nothing stands in the way.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def vectors(A: T.Buffer(("n", 64), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((n, 64), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(n, 64):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * B[vj] + T.sqrt(A[vi, vj])

    @T.prim_func(s_tir=True)
    def wide(A: T.Buffer((64, 30), "float64"), B: T.Buffer((64, 30), "int8")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(64, 30):
            B[i, j] = T.Cast("int8", A[i, j])

    @T.prim_func(s_tir=True)
    def apart(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(64, 64):
            B[i, j] = A[i, 63 - j]
