# target: device with lone threads
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", 77), "float32"), S: T.Buffer((n,), "float32")):
        # Each thread has the lanes of its sum to itself.
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(n, 77):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
