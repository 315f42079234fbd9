# target: device
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constant(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(32, 64):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]

    @T.prim_func(s_tir=True)
    def batched(A: T.Buffer((4, "m", "n"), "float32"), D: T.Buffer((m,), "float32"), B: T.Buffer((4, n, m), "float32")):
        m, n = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for b, i, j in T.grid(4, n, m):
            with T.sblock("B"):
                vb, vi, vj = T.axis.remap("SSS", [b, i, j])
                B[vb, vi, vj] = A[vb, vj, vi] * T.float32(2) + D[vj]
