# The note of launches without axes changes nothing where there are threads.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def two(A: T.Buffer((64,), "float32")):
        with T.attr(0, "device_scope", 0):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                A[tx] = A[tx] + T.float32(1)
            for i in range(64):
                A[i] = A[i] * T.float32(2)
