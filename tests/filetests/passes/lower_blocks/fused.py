# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16, 32), "float32"), S: T.Buffer((16,), "float32")):
        # One loop makes both axes: init stays where it is.
        for f in range(512):
            with T.sblock("S"):
                vi = T.axis.spatial(16, f // 32)
                vk = T.axis.reduce(32, f % 32)
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
