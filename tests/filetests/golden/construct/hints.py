# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def running_sum(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("sum"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:8])
                T.writes(B[vi, 0:8])
                B[vi, 0] = A[vi, 0]
                for k in range(1, 8):
                    B[vi, k] = B[vi, k - 1] + A[vi, k]

    @T.prim_func(s_tir=True)
    def nothing_said(A: T.Buffer((8,), "float32"), I0: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
        # with T.sblock("root"):
        for i in range(8):
            with T.sblock("scatter"):
                vi = T.axis.opaque(8, i)
                T.reads(A[0:8], I0[0:8])
                T.writes(B[0:8])
                B[I0[vi]] = A[vi]

    @T.prim_func(s_tir=True)
    def within(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("outer"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:8])
                T.writes(B[0:4, 0:8])
                C = T.sblock_alloc_buffer((8,))
                D = T.match_buffer(B[vi, 0:8], (8,), offset_factor=1)
                for j in range(8):
                    with T.sblock("inner"):
                        vj = T.axis.spatial(8, j)
                        T.reads(A[0:4, 0:8])
                        T.writes(D[vj], C[0:8])
                        C[vj] = A[vi, vj]
                        D[vj] = C[vj] * C[vj]
