# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A[0] = T.float32(1.0)
