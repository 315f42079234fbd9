# target: device of 32 bits
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int64"), B: T.Buffer((64,), "int32"), C: T.Buffer((64,), "int64"), D: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            C[tx] = A[tx] + T.Cast("int64", B[tx])
            B[tx] = T.Cast("int32", A[tx] * T.int64(3))
            if A[tx] < T.int64(10):
                C[tx] = T.if_then_else(tx < 4, A[tx + 60], T.int64(-1))
            D[tx] = T.Cast("float32", A[tx])
