# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def handles(A_handle: T.handle, x: T.float32, B: T.Buffer(("n",), "float32")):
        n = T.int32()
        s = T.int32()
        A = T.match_buffer(A_handle, (n,), strides=(s,), elem_offset=0, align=64, offset_factor=1)
        # with T.sblock("root"):
        for i in range(n):
            B[i] = A[i] * x
