# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def named(A: T.Buffer((4,), "float32")):
        # Another target already.
        T.func_attr({"target": T.target({"kind": "other-kind"})})
        A[0] = T.float32(1)
