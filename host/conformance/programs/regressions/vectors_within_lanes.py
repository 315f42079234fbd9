# vectorize took the vectors of an inner loop, of as many lanes, for the lanes of the outer one.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(B2: T.Buffer((2,), "float64")):
        # with T.sblock("root"):
        for ii in T.vectorized(2):
            part = T.alloc_buffer((2,), "float16", scope="local")
            for k in T.vectorized(2):
                part[k] = T.float16(0.0)
            B2[ii] = T.Cast("float64", part[0])
