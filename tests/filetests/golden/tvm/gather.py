# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def gather(A: T.Buffer((50, 8), "float32"), Idx: T.Buffer((20,), "int32"), B: T.Buffer((20, 8), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(20, 8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Idx[vi], A[Idx[vi], vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.if_then_else(Idx[vi] >= 0 and Idx[vi] < 50, A[Idx[vi], vj], T.float32(-1.0))
