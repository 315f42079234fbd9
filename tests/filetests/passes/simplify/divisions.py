# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def split(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32"), n: T.int32):
        # Split and fused indices; a symbolic extent; what may be negative is kept.
        for i, j, k in T.grid(16, 16, 16):
            B[(i * 256 + j * 16 + k) // 256 * 256 + (i * 256 + j * 16 + k) % 256 // 16 * 16 + k] = A[(i * 256 + j * 16 + k) % 4096]
        for i in range(T.min(n, 64)):
            for j in range(64):
                B[(i * 64 + j) // 64] = A[(i * 64 + j) % 64 + T.truncdiv(i * 8, 4)]
        for i in range(16):
            B[(i - 8) // 4 + 4] = A[(i - 8) % 4]
