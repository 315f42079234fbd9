# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def stores(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), m: T.int32, n: T.int32):
        # What a condition says of all lanes at once is a branch, or a choice between vectors; only the rest is a mask.
        for i in range(4):
            for j in T.vectorized(16):
                if j < n and i < m:
                    B[i, j] = A[i, j]

    @T.prim_func(s_tir=True)
    def loads(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), m: T.int32, n: T.int32):
        for i in range(4):
            for j in T.vectorized(16):
                B[i, j] = T.if_then_else(i < m and j < n, A[i, j], T.float32(0))

    @T.prim_func(s_tir=True)
    def reads_memory(A: T.Buffer((4, 16), "float32"), K: T.Buffer((4,), "int32"), B: T.Buffer((4, 16), "float32"), n: T.int32):
        for i in range(4):
            for j in T.vectorized(16):
                if j < n and K[i] > 0:
                    B[i, j] = A[i, j]
