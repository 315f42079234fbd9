# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def store(p: T.handle("int32", "global"), x: T.int32):
        P = T.decl_buffer((4,), "int32", data=p)
        P[0] = x

    @T.prim_func(s_tir=True)
    def kernel(B: T.Buffer((64,), "int32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            Module.store(T.address_of(B[bx]), bx)
