# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        A[0:4] = T.Shuffle([A[T.Ramp(n, 1, 8)]], [0, 1, 2, 3])
        A[0:4] = T.Shuffle([A[T.Ramp(n, 1, 8)]], [4, 5, 6, 7])
        A[0:8] = T.Shuffle([A[T.Ramp(n, 1, 4)], A[T.Ramp(0, 2, 4)]], [0, 1, 2, 3, 4, 5, 6, 7])
        A[0] = T.Shuffle([A[T.Ramp(0, 1, 4)]], [2])

    @T.prim_func(s_tir=True)
    def flags(A: T.Buffer((16,), "int32")):
        # with T.sblock("root"):
        A[0] = T.q_multiply_shift_per_axis(A[0], A[1], A[2], A[3], 31, 1, 0)
        T.tvm_access_ptr(T.type_annotation("int32"), A.data, 0, 16, 2)
