# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def two(A: T.Buffer((60, 70), "float32"), B: T.Buffer((60, 70), "float32")):
        # A schedule may be one text. What stands between two results is computed where it is read.
        T.func_attr({"tirx.noalias": True, "chipdock.schedule": """
            m = sch.get_sblock("M")
            sch.compute_inline(m)
            b = sch.get_sblock("B")
            i, j = sch.get_loops(b)
            f = sch.fuse(i, j)
            sch.parallel(f)
        """})
        M = T.sblock_alloc_buffer((60, 70))
        for i, j in T.grid(60, 70):
            with T.sblock("M"):
                vi, vj = T.axis.remap("SS", [i, j])
                M[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(60, 70):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = M[vi, vj] + T.float32(1)
