# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def int8_dot(A: T.Buffer(("m", "k"), "int8"), B: T.Buffer(("n", k), "int8"), C: T.Buffer((m, n), "int32")):
        m = T.int32()
        k = T.int32()
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i, j, p in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                T.reads(A[vi, vp], B[vj, vp])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vp]) * T.Cast("int32", B[vj, vp])
