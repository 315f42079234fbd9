# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int8"), s: T.int32):
        A[0] = T.q_multiply_shift(A[1], A[2], 31, -3)
        A[1] = T.q_multiply_shift(A[2], A[3], 31, s)
        A[2] = T.q_multiply_shift_per_axis(A[3], A[4], A[5], A[6], 31, 1, 0)
        A[3] = T.q_multiply_shift_per_axis(A[4], A[5], A[6], A[7], 31, 0, 1)
        A[4] = T.dp4a(B[T.Ramp(0, 1, 4)], B[T.Ramp(4, 1, 4)], A[5])
        A[5] = T.tvm_thread_invariant(A[6])
        T.evaluate(T.assume(A[6] > 0))
