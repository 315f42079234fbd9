@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.int32) -> T.int32:
        return x

    @T.prim_func
    def f(x: T.int32) -> T.int32:
        return x

    def g(x: T.int32):
        T.evaluate(x)

    @T.prim_fun
    def h(x: T.int32):
        T.evaluate(x)

    @T.prim_func(s_tirr=True)
    def i(x: T.int32):
        T.evaluate(x)

    @T.prim_func
    def j(A: T.Buffer((8,), "int32"), x, y: int, *args):
        A[0] = x

    @T.prim_func
    def k(A: T.Buffer((8,), "int32"), x, y: T.int33 = 3):
        A[0] = Module.ff(A[1])
        A[0] = Module.f(A[1], 2)

    @T.prim_func
    def l(x: T.int32) -> T.float32:
        return x
    x: int = 3


class Other:
    pass
