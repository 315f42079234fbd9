# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(2, thread="threadIdx.x"):
            B[T.Ramp(tx * 32, 1, 6)] = A[T.Ramp(1, 2, 6)]
