# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32"), n: T.int32):
        for i, j in T.grid(64, 16):
            B[(i * 16 + j) // 16 * 16 + (i * 16 + j) % 16] = A[j + i * 16 + 0]
        for i in range(64):
            if i * 16 + 15 < 1024:
                B[i * 16 - i * 15] = A[T.min(i, 63)]
        for k in range(1):
            B[k] = A[n - n + k]
        for k in range(16):
            if k >= 16:
                B[k] = T.float32(0)
