# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def small(n: T.int32) -> T.int32:
        T.func_attr({"tirx.is_global_func": False})
        assert n < 1000, ("ValueError", ["n is too large"])
        return n * 2 + 1

    @T.prim_func
    def smaller(n: T.int32) -> T.int32:
        T.func_attr({"tirx.is_global_func": False})
        return Module.small(n) - 2

    @T.prim_func(s_tir=True)
    def checked_calls(A: T.Buffer((16,), "int32"), n: T.int32):
        # with T.sblock("root"):
        A[0] = 1
        x: T.let[T.int32] = Module.small(n)
        A[1] = x + Module.smaller(n + 1)
        for i in range(4):
            A[2 + i] = Module.small(i) + n
        if Module.small(n) > 5:
            A[15] = 3

    @T.prim_func(s_tir=True)
    def views_around_launches(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        P = T.decl_buffer((24,), "int32", data=T.address_of(B[4]))
        for i in T.parallel(24):
            P[i] = A[i] + 1
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            P[tx] = P[tx] * 2 + A[31 - tx]
        for i in range(24):
            A[i] = P[i]
