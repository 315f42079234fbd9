# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def compare_select(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), L: T.Buffer((n,), "bool"), M: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("L"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(L[vi])
                L[vi] = A[vi] < B[vi]
        for i in range(n):
            with T.sblock("M"):
                vi = T.axis.spatial(n, i)
                T.reads(L[vi], A[vi], B[vi])
                T.writes(M[vi])
                M[vi] = T.Select(L[vi], A[vi], B[vi])
