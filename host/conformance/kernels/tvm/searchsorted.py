# tvm: accepted (regions that leave a buffer out are added, where TVM keeps them as they are)
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16,), "float32", offset_factor=1), B: T.Buffer((4,), "float32", offset_factor=1), searchsorted: T.Buffer((4,), "int32", offset_factor=1)):
        T.func_attr({"tirx.noalias": True})
        with T.sblock("searchsorted"):
            T.reads()
            T.writes()
            for v in T.parallel(4):
                buffer: T.int32
                buffer_1: T.int32
                buffer = 0
                buffer_1 = 16
                while buffer < buffer_1:
                    if A[buffer + (buffer_1 - buffer >> 1)] < B[v]:
                        buffer = buffer + (buffer_1 - buffer >> 1) + 1
                    else:
                        buffer_1 = buffer + (buffer_1 - buffer >> 1)
                searchsorted[v] = buffer

