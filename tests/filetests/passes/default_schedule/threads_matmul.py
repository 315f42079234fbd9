# target: device
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer(("m", "k"), "float32"), B: T.Buffer((k, "n"), "float32"), C: T.Buffer((m, n), "float32")):
        m, k, n = T.int32(), T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j, p in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                with T.init():
                    C[vi, vj] = T.float32(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]

    @T.prim_func(s_tir=True)
    def batched(A: T.Buffer((3, 64, 32), "int8"), B: T.Buffer((3, 40, 32), "int8"), D: T.Buffer((40,), "int32"), C: T.Buffer((3, 64, 40), "int32")):
        T.func_attr({"tirx.noalias": True})
        for b, i, j, k in T.grid(3, 64, 40, 32):
            with T.sblock("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = D[vj]
                C[vb, vi, vj] = C[vb, vi, vj] + T.Cast("int32", A[vb, vi, vk]) * T.Cast("int32", B[vb, vj, vk])
