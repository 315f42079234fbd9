# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer(("n", "m"), "float32"), S: T.Buffer((n,), "float32")):
        # There may be nothing to reduce: then there is no first iteration.
        n = T.int32()
        m = T.int32()
        for i, k in T.grid(n, m):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
