# target: device with handles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            V = T.decl_buffer((8,), "int32", data=T.address_of(B[tx]))
            V[0] = A[tx]
