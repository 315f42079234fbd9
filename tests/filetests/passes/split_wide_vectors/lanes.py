# target: device with short vectors
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(2, thread="threadIdx.x"):
            B[T.Ramp(tx * 32, 1, 6)] = A[T.Ramp(1, 2, 6)] + T.Broadcast(A[3], 6)
            B[T.Ramp(tx * 32 + 6, 1, 4)] = T.Shuffle([A[T.Ramp(0, 1, 8)], A[T.Ramp(40, 1, 8)]], [7, 9, 0, 15])
            B.vstore([T.Ramp(tx * 32 + 10, 1, 8)], A.vload([T.Ramp(30, 1, 8)], predicate=T.Ramp(30, 1, 8) < T.Broadcast(35, 8)), predicate=T.Ramp(0, 1, 8) < T.Broadcast(7, 8))
            B[A[T.Ramp(tx, 1, 5)]] = T.Select(A[T.Ramp(0, 1, 5)] < A[T.Ramp(8, 1, 5)], T.Ramp(0, 3, 5), T.Broadcast(7, 5))
