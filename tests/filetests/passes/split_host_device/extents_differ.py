# Two extents of one axis that differ in value.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def differ(A: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                A[tx] = T.float32(1)
            for tx in T.thread_binding(T.int64(32), thread="threadIdx.x"):
                A[tx] = T.float32(2)
