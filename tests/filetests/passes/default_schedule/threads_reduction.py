# target: device
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def columns(A: T.Buffer((16, 300), "float32"), B: T.Buffer((300,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for k, j in T.grid(16, 300):
            with T.sblock("B"):
                vk, vj = T.axis.remap("RS", [k, j])
                with T.init():
                    B[vj] = T.float32(0)
                B[vj] = B[vj] + A[vk, vj]
