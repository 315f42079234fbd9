# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def outside(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # Whether to go on is asked on the host.
        if A[0] > T.float32(0):
            return
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("A"):
                vi = T.axis.spatial(32, tx)
                B[vi] = A[vi]
