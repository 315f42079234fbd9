# target: device without halves
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "bfloat16"), C: T.Buffer((64,), "float16"), D: T.Buffer((64,), "bfloat16")):
        S = T.alloc_buffer((64,), "float16", scope="shared")
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            S[tx] = T.if_then_else(tx < 4, A[tx + 60], T.float16(-1.5))
            T.tvm_storage_sync("shared")
            C[tx] = S[63 - tx]
            if tx < 8:
                for j in T.vectorized(4):
                    D[tx * 8 + j] = B[tx * 8 + 4 + j]
                    D[tx * 8 + 4 + j] = T.bfloat16(0.1)
