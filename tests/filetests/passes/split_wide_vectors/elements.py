# target: device with short vectors
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((6,), "float16x8"), B: T.Buffer((6,), "float16x8")):
        for tx in T.thread_binding(6, thread="threadIdx.x"):
            L = T.alloc_buffer((1,), "float16x8", scope="local")
            L[0] = A[5 - tx]
            B[tx] = L[0] + A[tx]
