# target: device with scalar arguments
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def inner(r: T.handle("int32", "global"), x: T.int32):
        R = T.decl_buffer((4,), "int32", data=r)
        R[1] = R[0] * x

    @T.prim_func(private=True)
    def helper(p: T.handle("int32", "global"), n: T.int32, x: T.int32, q: T.handle("int32", "global")):
        P = T.decl_buffer((n,), "int32", data=p)
        Q = T.decl_buffer((n,), "int32", data=q)
        for i in range(n):
            P[i] = Q[i] + x
        Module.inner(T.address_of(P[1]), x)

    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            Module.helper(T.address_of(B[bx * 16]), 4, A[bx] + 1, A.data)
            Module.helper(T.handle_add_byte_offset(B.data, bx * 64 + 32), 3, bx, T.address_of(A[bx]))
