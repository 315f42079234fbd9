# target: device of 32 bits
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(a: T.handle, scale: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n, n), "int64")
        for bx in T.thread_binding((n + T.int64(63)) // T.int64(64), thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                if bx * T.int64(64) + T.Cast("int64", tx) < n:
                    for j in range(n):
                        A[j, bx * T.int64(64) + T.Cast("int64", tx)] = A[j, bx * T.int64(64) + T.Cast("int64", tx)] * scale
