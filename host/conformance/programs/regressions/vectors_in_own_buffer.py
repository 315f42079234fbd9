# vectorize made a vector index of a lane's own buffer without a lane for each of its lanes.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(B0: T.Buffer((2,), "uint8")):
        # with T.sblock("root"):
        for k in T.vectorized(2):
            part = T.alloc_buffer((8,), "uint8", scope="local")
            for k_1 in T.vectorized(8):
                part[k_1] = T.Cast("uint8", k_1 + k)
            B0[k] = part[3]
