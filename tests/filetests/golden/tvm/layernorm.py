# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def layernorm(A: T.Buffer((8, 96), "float32"), G: T.Buffer((96,), "float32"), Bt: T.Buffer((96,), "float32"), O: T.Buffer((8, 96), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S = T.alloc_buffer((8,))
        Q = T.alloc_buffer((8,))
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S[vi], Q[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                    Q[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
                Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
        for i, j in T.grid(8, 96):
            with T.sblock("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], S[vi], Q[vi], G[vj], Bt[vj])
                T.writes(O[vi, vj])
                O[vi, vj] = (A[vi, vj] - S[vi] / T.float32(96.0)) * T.rsqrt(Q[vi] / T.float32(96.0) - S[vi] / T.float32(96.0) * (S[vi] / T.float32(96.0)) + T.float32(1e-5)) * G[vj] + Bt[vj]
