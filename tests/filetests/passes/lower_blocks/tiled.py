# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((100, 64), "float32"), S: T.Buffer((64,), "float32")):
        # The reduction is split over two loops with a spatial loop between them, and its last tile is not whole.
        for jo, ko, ji, ki in T.grid(4, 7, 16, 16):
            with T.sblock("S"):
                vj = T.axis.spatial(64, jo * 16 + ji)
                vk = T.axis.reduce(100, ko * 16 + ki)
                T.where(ko * 16 + ki < 100)
                with T.init():
                    S[vj] = T.float32(0)
                S[vj] = S[vj] + A[vk, vj]
