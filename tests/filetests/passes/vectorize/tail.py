# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def row(a: T.handle, b: T.handle):
        # The end of a row: without a mask where all lanes are within it.
        n = T.int32()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range((n + 7) // 8):
            for v in T.vectorized(8):
                if i * 8 + v < n:
                    B[i * 8 + v] = A[i * 8 + v] * T.float32(2)

    @T.prim_func
    def two_bounds(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for v in T.vectorized(16):
            if v < n * 3 and v * 2 <= n + 7:
                B[v] = A[v * 2]

    @T.prim_func
    def first_and_step(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for v in T.vectorized(2, 8, step=4):
            if v < n * 3:
                B[v] = A[v]
