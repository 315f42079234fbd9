# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64, 32), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        for i, k in T.grid(64, 32):
            with T.sblock("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0.0)
                B[vi] = B[vi] + A[vi, vk]
