# target: device with fixed pointers
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            U = T.decl_buffer((2,), "int32", data=T.address_of(B[A[tx]]))
            U[0] = tx
            V = T.decl_buffer((4,), "int16", data=T.address_of(B[tx]))
            V[0] = T.int16(1)
            W = T.decl_buffer((2,), "int32", data=T.handle_add_byte_offset(B.data, tx * 2))
            W[0] = 3
