# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rms_norm(A: T.Buffer(("n", "d"), "float32"), G: T.Buffer((d,), "float32"), O: T.Buffer((n, d), "float32")):
        n = T.int32()
        d = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        Q = T.sblock_alloc_buffer((n,))
        for i, k in T.grid(n, d):
            with T.sblock("Q"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(Q[vi])
                with T.init():
                    Q[vi] = T.float32(0.0)
                Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
        for i, j in T.grid(n, d):
            with T.sblock("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], Q[vi], G[vj])
                T.writes(O[vi, vj])
                O[vi, vj] = A[vi, vj] * T.rsqrt(Q[vi] / T.Cast("float32", d) + T.float32(1e-6)) * G[vj]
