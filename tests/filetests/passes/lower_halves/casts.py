# target: device without halves
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def floats(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float16")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            B[tx] = T.Cast("float32", A[tx])
            D[tx] = T.Cast("float16", C[tx])

    @T.prim_func(s_tir=True)
    def integers(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "uint8"), C: T.Buffer((64,), "int32"), D: T.Buffer((64,), "bfloat16")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            B[tx] = T.Cast("uint8", A[tx])
            D[tx] = T.Cast("bfloat16", C[tx])
