# target: device of 32 bits
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            A[0] = T.q_multiply_shift(A[1], A[2], 31, -3)
            A[1] = T.q_multiply_shift_per_axis(A[3], A[4], A[5], A[6], 31, 1, 0)
            B[0] = T.exp(B[1])
            B[1] = T.log2(B[2])
            B[2] = T.ldexp(B[3], A[2])
