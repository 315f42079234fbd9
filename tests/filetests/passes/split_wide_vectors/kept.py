# target: device with short vectors
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32"), C: T.Buffer((8,), "int32x8"), D: T.Buffer((8,), "uint8")):
        for tx in T.thread_binding(2, thread="threadIdx.x"):
            B[T.Ramp(tx * 8, 1, 8)] = T.Broadcast(T.atomic_add(T.address_of(A[0]), 1), 8)
            B[T.Ramp(tx * 2, 1, 2)] = T.reinterpret("int32x2", T.Cast("uint8x8", C[tx]))
            B[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(tx * 4, 1, 4)]
