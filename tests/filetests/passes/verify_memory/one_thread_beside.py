# A device without thread axes: memory of a launch that a later one needs, and device memory outside of a launch by hand.
# target: device without threads
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def lost(A: T.Buffer((64,), "float32")):
        S = T.alloc_buffer((64,), "float32", scope="npu.scratch")
        with T.attr(0, "device_scope", 0):
            for i in range(64):
                S[i] = A[i]
        with T.attr(0, "device_scope", 0):
            for i in range(64):
                A[i] = S[63 - i]
