# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def while_loop(A: T.Buffer(("n",), "int32"), S: T.Buffer((n,), "int32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("S"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi])
                T.writes(S[vi])
                x = T.sblock_alloc_buffer((1,), "int64", scope="local")
                steps = T.sblock_alloc_buffer((1,), "int32", scope="local")
                x[0] = T.Cast("int64", A[vi])
                steps[0] = 0
                while x[0] > T.int64(1):
                    if x[0] % T.int64(2) == T.int64(0):
                        x[0] = x[0] // T.int64(2)
                    else:
                        x[0] = x[0] * T.int64(3) + T.int64(1)
                    steps[0] = steps[0] + 1
                S[vi] = steps[0]
