# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def branches(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        # What a condition says holds in its branch, and the opposite in the other.
        for i in range(64):
            if i < 16:
                B[i % 16] = A[i // 16 + i]
            else:
                B[T.max(i, 16)] = A[i]
        for i in range(64):
            if n >= 2 and n + 1 <= 4 and i >= n:
                B[(i + 64 * n) // 64 - n] = A[T.min(n, 3)]
            if n > 5:
                if n > 3:
                    B[i] = A[i] + T.float32(1)
                if 5 >= n:
                    B[i] = T.float32(0)

    @T.prim_func
    def nothing(A: T.Buffer((64,), "float32"), n: T.int32):
        # Loops of nothing, of one, of an else alone.
        for i in range(0):
            A[i] = T.float32(1)
        for i in range(5, 6):
            A[i] = T.float32(2)
        for i in range(64):
            if i < 0:
                A[i] = T.float32(3)
            else:
                T.evaluate(n)
        while n < 0 and n > 0:
            A[0] = T.float32(4)
