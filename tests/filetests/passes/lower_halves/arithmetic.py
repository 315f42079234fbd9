# target: device without halves
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "bfloat16"), B: T.Buffer((64,), "bfloat16"), C: T.Buffer((64,), "bfloat16")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            C[tx] = A[tx] * B[tx] + T.bfloat16(0.5)
            if A[tx] < B[tx]:
                C[tx] = T.max(A[tx], T.bfloat16(0))
