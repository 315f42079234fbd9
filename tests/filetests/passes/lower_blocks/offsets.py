# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def views(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
        # A view of a view, with symbolic strides and offset.
        with T.sblock("outer"):
            C = T.match_buffer(A[2:6, 0:8], (4, 8), strides=("s0", "s1"), offset_factor=1)
            for i in range(4):
                with T.sblock("inner"):
                    vi = T.axis.spatial(4, i)
                    D = T.match_buffer(C[vi, 4:8], (4,), elem_offset="o")
                    for j in range(4):
                        B[vi, j] = D[j]
