# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16, 16), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        # Threads raise no errors.
        for i in T.thread_binding(4, thread="threadIdx.x"):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                V = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), strides=(16, 1), elem_offset=n)
                B[vi] = V[1, 1]
