# tvm: accepted (other spellings of the same, which TVM keeps apart)

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((64,), "float32"), n: T.int32):
        A[T.Ramp(0, 1, 4)] = T.vectorlow("float32x4", A[T.Ramp(n, 1, 8)])
        A[T.Ramp(0, 1, 4)] = T.vectorhigh("float32x4", A[T.Ramp(n, 1, 8)])
        A[T.Ramp(0, 1, 8)] = T.vectorcombine("float32x8", A[T.Ramp(n, 1, 4)], A[T.Ramp(0, 2, 4)])
        A[0] = T.Shuffle([A[T.Ramp(0, 1, 4)]], [2])

    @T.prim_func(s_tir=True)
    def flags(A: T.Buffer((16,), "int32")):
        A[0] = T.q_multiply_shift_per_axis(A[0], A[1], A[2], A[3], 31, T.bool(True), T.bool(False))
        T.tvm_access_ptr("int32", A.data, 0, 16, 2)
