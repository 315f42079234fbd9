# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def named(A: T.Buffer((4,), "float32")):
        T.func_attr({"note": 3, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        A[0] = T.float32(1.0)

    @T.prim_func
    def other(A: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        T.evaluate(0)
