# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def bound(A: T.Buffer((16,), "float32"), N: T.Buffer((16,), "int32"), n: T.int32):
        a: T.let[T.int32] = n + 1
        b: T.let[T.int32] = n + 2
        c: T.let[T.int32] = n + 3
        p: T.let[T.handle("float32", "global")] = A.data
        P = T.decl_buffer((16,), data=p)
        N[0] = a + b + c
        P[1] = P[0]

    @T.prim_func
    def grids(M: T.Buffer((4, 4), "float32"), C: T.Buffer((2, 4, 4), "float32")):
        for ax_0, ax_1 in T.grid(4, 4):
            M[ax_0, ax_1] = T.float32(1.0)
        for ax_0, ax_1 in T.grid(4, 4):
            M[ax_0, ax_1] = T.float32(2.0)
        for i, ax_0, ax_1 in T.grid(2, 4, 4):
            C[i, ax_0, ax_1] = M[ax_0, ax_1]
        for i, j in T.grid(4, 4):
            M[i, j] = T.float32(3.0)
        for ax_0, ax_1 in T.grid(4, 4):
            M[ax_1, ax_0] = T.float32(4.0)
        for ax in range(4):
            M[ax, 0] = T.float32(5.0)

    @T.prim_func(s_tir=True)
    def remapped(M: T.Buffer((4, 4), "float32")):
        # with T.sblock("root"):
        for ax_0, ax_1 in T.grid(4, 4):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [ax_0, ax_1])
                T.reads()
                T.writes(M[vi, vj])
                M[vi, vj] = T.float32(1.0)

    @T.prim_func
    def offsets(A: T.Buffer((16,), "float32"), B: T.Buffer((4, 4), "float32"), N: T.Buffer((16,), "int32"), n: T.int32):
        C = T.decl_buffer((4, 4), data=A.data, strides=(4, 1), elem_offset=n)
        D = T.decl_buffer((16,), data=A.data)
        N[0] = 0 + n + 4
        B[0, 0] = C[0, 0] + D[0]
