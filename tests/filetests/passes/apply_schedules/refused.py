# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prefix(A: T.Buffer((250,), "float32"), B: T.Buffer((250,), "float32")):
        # Each iteration reads what the one before it wrote.
        T.func_attr({"tirx.noalias": True, "chipdock.schedule": [
            'b = sch.get_sblock("B")',
            "i, = sch.get_loops(b)",
            "sch.parallel(i)",
        ]})
        for i in range(249):
            with T.sblock("B"):
                vi = T.axis.opaque(249, i)
                T.reads(A[vi], B[vi])
                T.writes(B[vi + 1])
                B[vi + 1] = B[vi] + A[vi]
