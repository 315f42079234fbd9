# target: device with scalar arguments
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scaled(x: T.int32, y: T.int32) -> T.int32:
        return x * y

    @T.prim_func(private=True)
    def early(p: T.handle("int32", "global"), x: T.int32):
        P = T.decl_buffer((4,), "int32", data=p)
        if x < 0:
            return
        P[0] = x

    @T.prim_func(private=True)
    def store(p: T.handle("int32", "global"), x: T.int32):
        P = T.decl_buffer((4,), "int32", data=p)
        P[0] = x

    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            B[bx] = Module.scaled(A[bx], 3)
            Module.early(B.data, A[bx])
            Module.store(T.address_of(B[A[bx]]), 5)
            Module.store(B.data, 6)
