# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def free(A: T.Buffer((64, 64), "float32")):
        # with T.sblock("root"):
        for i, j in T.grid(4, 4):
            with T.sblock("tile"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
                T.writes(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
                s0 = T.int32()
                s1 = T.int32()
                V = T.match_buffer(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16), strides=(s0, s1), offset_factor=1)
                V[0, 0] = V[1, 1] * T.float32(2.0)
                T.call_extern("int32", "tile", V.data, s0)

    @T.prim_func(s_tir=True)
    def given(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        V = T.decl_buffer((4, 4), data=A.data, strides=(n, 2), elem_offset=n + 1)
        V[0, 1] = V[1, 0]
        W = T.decl_buffer((8,), data=A.data, elem_offset=8)
        W[0] = V[1, 1]

    @T.prim_func(s_tir=True)
    def strided(A_handle: T.handle, B_handle: T.handle):
        m = T.int32()
        n = T.int32()
        s = T.int32()
        A = T.match_buffer(A_handle, (m, n), strides=(s, 1))
        B = T.match_buffer(B_handle, (m, n), "float16", strides=(s * 2, 2), elem_offset=s, offset_factor=8)
        # with T.sblock("root"):
        for i, j in T.grid(m, n):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.Cast("float32", B[vi, vj])
