# vectorize left an attribute about a buffer that each lane has for itself, which was made wider.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(B0: T.Buffer((2,), "int32")):
        # with T.sblock("root"):
        for x in T.vectorized(2):
            t = T.alloc_buffer((1,), "int32")
            c = T.alloc_buffer((1,), "int32", scope="local")
            c[0] = 0
            t[0] = x
            while c[0] < 2:
                with T.attr(t, "pragma_note", 0):
                    t[0] = t[0] + 3
                c[0] = c[0] + 1
            B0[x] = t[0]
