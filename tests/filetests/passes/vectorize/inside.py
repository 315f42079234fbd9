# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def accumulators(A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")):
        # All of what is allocated may be loaded; a parameter may not.
        acc = T.alloc_buffer((16,), scope="local")
        for o in range(4):
            for v in T.vectorized(16):
                acc[v] = T.float32(2)
            for v in T.vectorized(16):
                B_v: T.let[T.int32] = o * 16 + v
                if B_v < 50:
                    B[B_v] = A[B_v] + acc[v] + acc[o]

    @T.prim_func
    def beyond(A: T.Buffer((40,), "float32"), B: T.Buffer((64,), "float32")):
        # The last vector has lanes outside of what is allocated.
        copy = T.alloc_buffer((40,))
        for i in range(40):
            copy[i] = A[i]
        for o in range(4):
            for v in T.vectorized(16):
                B[o * 16 + v] = T.if_then_else(o * 16 + v < 40, copy[o * 16 + v], T.float32(1))

    @T.prim_func
    def decided(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # Conditions that the ranges decide are no masks.
        for o in range(3):
            for v in T.vectorized(16):
                B[o * 16 + v] = T.if_then_else(o * 16 + v < 48, A[o * 16 + v], T.float32(0))
            for v in T.vectorized(16):
                if o * 16 + v < 0:
                    B[o * 16 + v] = T.float32(3)
                else:
                    B[o * 16 + v] = B[o * 16 + v] * T.float32(2)

    @T.prim_func
    def zeros(A: T.Buffer((50,), "float32"), B: T.Buffer((64,), "float32")):
        # Lanes that are turned off are zeros, and not minus zeros.
        for o in range(4):
            for v in T.vectorized(16):
                B[o * 16 + v] = T.if_then_else(o * 16 + v < 50, A[o * 16 + v], T.float32(0))
            for v in T.vectorized(16):
                B[o * 16 + v] = B[o * 16 + v] + T.if_then_else(o * 16 + v < 50, A[o * 16 + v], T.float32(-0.0))
