# Forms of one thing that TVM reads alike.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def bound(A: T.Buffer((16,), "float32"), N: T.Buffer((16,), "int32"), n: T.int32):
        a = T.bind(n + 1, T.int32)
        b = T.bind(n + 2, type_annotation=T.int32())
        c = T.int32()
        T.bind(n + 3, var=c)
        p = T.bind(A.data, T.handle("float32", "global"))
        P = T.decl_buffer((16,), data=p)
        N[0] = a + b + c
        P[1] = P[0]

    @T.prim_func
    def grids(M: T.Buffer((4, 4), "float32"), C: T.Buffer((2, 4, 4), "float32")):
        for ax in T.grid(4, 4):
            M[ax[0], ax[1]] = T.float32(1)
        for ax in T.grid(4, 4):
            M[ax] = T.float32(2)
        for i, *ax in T.grid(2, 4, 4):
            C[i, ax[0], ax[1]] = M[*ax]
        for [i, j] in T.grid(4, 4):
            M[i, j] = T.float32(3)
        for ax in T.grid(4, 4):
            i, j = ax
            M[j, i] = T.float32(4)
        for ax in T.grid(4):
            M[ax, 0] = T.float32(5)

    @T.prim_func(s_tir=True)
    def remapped(M: T.Buffer((4, 4), "float32")):
        for ax in T.grid(4, 4):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", ax)
                T.reads()
                T.writes(M[vi, vj])
                M[vi, vj] = T.float32(1)

    @T.prim_func
    def offsets(A: T.Buffer((16,), "float32", elem_offset=0), b: T.handle, N: T.Buffer((16,), "int32"), n: T.int32):
        B = T.match_buffer(b, (4, 4), "float32", strides=[], elem_offset=0)
        C = T.decl_buffer((4, 4), data=A.data, strides=(4, 1), elem_offset=n)
        D = T.decl_buffer((16,), data=A.data, elem_offset=0)
        N[0] = A.elem_offset + C.elem_offset + C.strides[0]
        B[0, 0] = C[0, 0] + D[0]
