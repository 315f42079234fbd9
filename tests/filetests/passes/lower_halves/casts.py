# target: device without halves
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "bfloat16"), D: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            B[tx] = T.Cast("float32", A[tx])
            A[tx] = T.Cast("float16", B[63 - tx])
            C[tx] = T.Cast("bfloat16", D[tx])
            D[tx] = T.Cast("int32", C[63 - tx])
