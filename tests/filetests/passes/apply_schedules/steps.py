# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def double(A: T.Buffer((250,), "float32"), B: T.Buffer((250,), "float32")):
        # The steps are taken in order, and no default schedule changes the function on a host.
        T.func_attr({"tirx.noalias": True, "chipdock.schedule": [
            'b = sch.get_sblock("B")',
            "i, = sch.get_loops(b)",
            "i_0, i_1 = sch.split(i, factors=[None, 8])",
            "sch.vectorize(i_1)",
        ]})
        for i in range(250):
            with T.sblock("B"):
                vi = T.axis.spatial(250, i)
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func(s_tir=True)
    def beside(A: T.Buffer((250,), "float32"), B: T.Buffer((250,), "float32")):
        for i in range(250):
            with T.sblock("B"):
                vi = T.axis.spatial(250, i)
                B[vi] = A[vi] * T.float32(2)
