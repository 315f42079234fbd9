# A device that addresses in 32 bits. A parameter has the name that would be taken.
# target: device with short handles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), B_elem_offset: T.int32):
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            with T.sblock("B"):
                vi = T.axis.spatial(16, bx)
                B[vi] = A[vi] * T.Cast("float32", B_elem_offset)
