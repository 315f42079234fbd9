# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def layernorm(A: T.Buffer(("n", "d"), "float32"), G: T.Buffer((d,), "float32"), Bt: T.Buffer((d,), "float32"), O: T.Buffer((n, d), "float32")):
        n = T.int32()
        d = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((n,))
        Q = T.sblock_alloc_buffer((n,))
        for i, k in T.grid(n, d):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(n, d):
            with T.sblock("Q"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk], S[vi])
                T.writes(Q[vi])
                with T.init():
                    Q[vi] = T.float32(0.0)
                Q[vi] = Q[vi] + (A[vi, vk] - S[vi] / T.Cast("float32", d)) * (A[vi, vk] - S[vi] / T.Cast("float32", d))
        for i, j in T.grid(n, d):
            with T.sblock("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], S[vi], Q[vi], G[vj], Bt[vj])
                T.writes(O[vi, vj])
                O[vi, vj] = (A[vi, vj] - S[vi] / T.Cast("float32", d)) / T.sqrt(Q[vi] / T.Cast("float32", d) + T.float32(1e-5)) * G[vj] + Bt[vj]
