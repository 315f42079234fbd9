# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 32), "float32"), S: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for f in range(512):
            if f % 32 == 0:
                S[f // 32] = T.float32(0.0)
            S[f // 32] = S[f // 32] + A[f // 32, f % 32]
