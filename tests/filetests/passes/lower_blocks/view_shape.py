from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16, 16), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        # An extent, an offset and a stride that only a call tells: checked when it runs.
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                V = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (n, 16), strides=(n * 4, 1), elem_offset=n * vi * 16)
                B[vi] = V[1, 1]
