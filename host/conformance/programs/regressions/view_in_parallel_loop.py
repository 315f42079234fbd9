# lower_workspace declared a view of a parallel loop, which became a function, once more where its index was not known.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def helper1(x0: T.bfloat16) -> T.uint64:
        # with T.sblock("root"):
        return T.uint64(5)

    @T.prim_func(s_tir=True)
    def kernel(B1: T.Buffer(("n",), "uint16")):
        n = T.int32()
        # with T.sblock("root"):
        B0 = T.sblock_alloc_buffer((n, 1), "int8")
        for i in T.parallel(2):
            with T.sblock("part"):
                vi = T.axis.spatial(n, i)
                out_row = T.match_buffer(B0[vi, 0], (1, 1), "int8", strides=(1, 1), offset_factor=1)
                r: T.let[T.uint64] = Module.helper1(T.bfloat16(0.0))
                out_row[0, 0] = T.Cast("int8", r)
        B1[0] = T.Cast("uint16", B0[1, 0])
