# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16, 77), "float32"), S: T.Buffer((16,), "float32"), P: T.Buffer((16, 77), "float32")):
        # Something under the reduction loop reads the sum so far: init stays where it is.
        for i, k in T.grid(16, 77):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
            with T.sblock("P"):
                vi, vk = T.axis.remap("SS", [i, k])
                P[vi, vk] = S[vi]
