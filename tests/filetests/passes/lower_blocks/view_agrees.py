from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16, 16), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        # The same in other words: nothing to check.
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                V = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), strides=(4 * 4, 1), elem_offset=(vi * 8 + 0) * 8)
                B[vi] = V[1, 1]
