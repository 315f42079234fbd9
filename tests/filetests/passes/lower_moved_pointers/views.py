# target: device with fixed pointers
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            V = T.decl_buffer((8,), "int32", data=T.handle_add_byte_offset(B.data, T.int64(40)))
            V[tx] = A[tx]
            W = T.decl_buffer((4,), "int32", data=T.address_of(V[tx + 4]))
            W[0] = V[tx] * 2
            X = T.decl_buffer((4,), "int32", data=T.handle_add_byte_offset(B.data, T.Cast("int64", tx) * T.int64(16)))
            X[T.Ramp(0, 1, 4)] = X[T.Ramp(0, 1, 4)] + T.Broadcast(W[0], 4)
