# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def named(A: T.Buffer((4,), "float32")):
        # Attributes stay.
        T.func_attr({"tirx.noalias": True, "note": 3})
        A[0] = T.float32(1)

    @T.prim_func
    def other(A: T.Buffer((4,), "float32")):
        T.evaluate(0)
