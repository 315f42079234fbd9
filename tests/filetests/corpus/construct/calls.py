# Functions that call each other, and functions that give a value.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(x: T.int32) -> T.int32:
        return x * 2

    @T.prim_func(s_tir=True)
    def use(A: T.Buffer((4,), "int32")):
        A[0] = Module.twice(A[1])
        T.evaluate(0)
