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

    @T.prim_func(s_tir=True)
    def whole_vectors(A: T.Buffer((56,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((60,), "float32")):
        # 56 is 7 vectors, so that all lanes agree; 60 is not 15 of them, and from 4 on no vector begins at a multiple of 8.
        for i in range(8):
            for j in T.vectorized(8):
                B[i * 8 + j] = T.if_then_else(i * 8 + j < 56, A[i * 8 + j], T.float32(1.0))
            for j in T.vectorized(8):
                if 40 <= i * 8 + j and i * 8 + j < 56:
                    B[i * 8 + j] = A[i * 8 + j] * B[i * 8 + j]
            for j in T.vectorized(8):
                if i * 8 + j < 60:
                    C[i * 8 + j] = B[i * 8 + j]
            for j in T.vectorized(8):
                if i * 8 + j + 4 < 56:
                    C[i * 8 + j] = A[i * 8 + j + 4]
