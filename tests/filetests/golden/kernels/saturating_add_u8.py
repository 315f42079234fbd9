# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def saturating_add_u8(A: T.Buffer(("n",), "uint8"), B: T.Buffer((n,), "uint8"), C: T.Buffer((n,), "uint8"), D: T.Buffer((n,), "uint8")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("CD"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(C[vi], D[vi])
                C[vi] = T.Cast("uint8", T.min(T.Cast("int32", A[vi]) + T.Cast("int32", B[vi]), 255))
                D[vi] = T.Cast("uint8", T.max(T.Cast("int32", A[vi]) - T.Cast("int32", B[vi]), 0))
