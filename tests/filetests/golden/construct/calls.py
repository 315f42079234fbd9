# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.int32) -> T.int32:
        T.func_attr({"tirx.is_global_func": False})
        return x * 2

    @T.prim_func(s_tir=True)
    def use(A: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        A[0] = Module.twice(A[1])
        T.evaluate(0)
