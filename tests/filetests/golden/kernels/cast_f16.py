# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def cast_f16(A: T.Buffer(("n",), "float32"), H: T.Buffer((n,), "float16"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("H"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi])
                T.writes(H[vi])
                H[vi] = T.Cast("float16", A[vi])
        for i in range(n):
            with T.sblock("B"):
                vi = T.axis.spatial(n, i)
                T.reads(H[vi])
                T.writes(B[vi])
                B[vi] = T.Cast("float32", H[vi] * T.float16(1.5))
