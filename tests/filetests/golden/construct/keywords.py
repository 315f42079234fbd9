# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def ops(A: T.Buffer((16,), "float32"), B: T.Buffer((32,), "float32"), N: T.Buffer((16,), "int32"), n: T.int32):
        B[0] = T.if_then_else(n > 0, A[0], A[1])
        B[1] = T.exp(A[0])
        B[2] = T.floor(A[0]) + T.round(A[1]) + T.ceil(A[2])
        B[3] = T.pow(A[0], A[1])
        B[4] = T.fma(A[0], A[1], A[2]) + T.ldexp(A[0], n)
        B[5] = T.call_extern("float32", "fabsf", A[0])
        B[6] = T.call_pure_extern("float32", "sqrtf", A[0])
        B[7] = T.exp(A[0])
        B[8] = T.reinterpret("float32", n)
        N[0] = (n << 2) + (n >> 2)
        N[1] = (n & 2) + T.bitwise_not(n)
        N[2] = T.popcount(n) + T.clz(n)
        N[3] = T.truncmod(n, 3) + n // 3
        N[4] = T.q_multiply_shift(n, n, 31, 2)
        if T.likely(n > 3):
            N[5] = T.Cast("int32", A[0])
        C = T.alloc_buffer((4,), "float32x4")
        C[0] = T.Broadcast(T.float32(1.0), 4)
        B[16:20] = C[0]

    @T.prim_func
    def threads(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        with T.launch_thread("threadIdx.x", 32) as t:
            r = T.alloc_buffer((1,), scope="local")
            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0.0)]), "reduce_scope", 0):
                T.tvm_thread_allreduce(T.uint32(1), A[t], T.bool(True), r[0], t)
            if t == 0:
                B[0] = r[0]
