# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer((32,), "float32"), n: T.int32):
        for vx in T.thread_binding(n, thread="vthread.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                with T.sblock("A"):
                    vi = T.axis.spatial(32, vx * 16 + tx)
                    A[vi] = T.float32(0)
