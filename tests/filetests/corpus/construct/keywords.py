# The `dtype=` of older scripts, and types without bits.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def ops(A: T.Buffer((16,), "float"), B: T.Buffer((32,), "float32"), N: T.Buffer((16,), "int"), n: T.int32):
        B[0] = T.if_then_else(n > 0, A[0], A[1], dtype="float32")
        B[1] = T.exp(A[0], dtype="float32")
        B[2] = T.floor(A[0], dtype="float32") + T.round(A[1], dtype="float32") + T.ceil(A[2], dtype="float32")
        B[3] = T.pow(A[0], A[1], dtype="float32")
        B[4] = T.fma(A[0], A[1], A[2], dtype="float32") + T.ldexp(A[0], n, dtype="float32")
        B[5] = T.call_extern("fabsf", A[0], dtype="float32")
        B[6] = T.call_pure_extern("sqrtf", A[0], dtype="float32")
        B[7] = T.call_intrin("tirx.exp", A[0], dtype="float")
        B[8] = T.reinterpret(n, dtype="float32")
        N[0] = T.shift_left(n, 2, dtype="int32") + T.shift_right(n, 2, dtype="int32")
        N[1] = T.bitwise_and(n, 2, dtype="int32") + T.bitwise_not(n, dtype="int32")
        N[2] = T.popcount(n, dtype="int32") + T.clz(n, dtype="int32")
        N[3] = T.truncmod(n, 3, dtype="int32") + T.floordiv(n, 3, dtype="int32")
        N[4] = T.q_multiply_shift(n, n, 31, 2, dtype="int32")
        if T.likely(n > 3, dtype="bool"):
            N[5] = T.Cast("int", A[0])
        C = T.alloc_buffer((4,), "floatx4")
        C[0] = T.Broadcast(T.float32(1), 4)
        B[16:20] = C[0]

    @T.prim_func
    def threads(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        t = T.launch_thread("threadIdx.x", 32)
        r = T.alloc_buffer((1,), "float32", scope="local")
        with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", T.int32(0)):
            T.tvm_thread_allreduce(T.uint32(1), A[t], T.bool(True), r[0], t, dtype="handle")
        if t == 0:
            B[0] = r[0]
