# target: device of 32 bits
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(12)), "float32"), B: T.Buffer((T.int64(96),), "float32")):
        for bx in T.thread_binding(T.int64(4), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(32), thread="threadIdx.x"):
                if bx * T.int64(32) + tx < T.int64(96):
                    B[bx * T.int64(32) + tx] = A[(bx * T.int64(32) + tx) // T.int64(12), (bx * T.int64(32) + tx) % T.int64(12)] + T.Cast("float32", bx)
            for i in range(T.int64(4)):
                B[i + T.int64(2)] = B[T.int64(7) - i]
