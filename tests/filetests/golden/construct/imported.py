# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def typed(A_handle: T.handle, B_handle: T.handle):
        m = T.int64()
        A = T.match_buffer(A_handle, (m,))
        B = T.match_buffer(B_handle, (m,))
        # with T.sblock("root"):
        for i in range(m):
            A[i] = B[i]
