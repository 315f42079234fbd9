# Processors: rows that no two iterations share, iterations at once, windows that overlap, sums over the loop.
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer((40, 50), "float32"), B: T.Buffer((40, 50), "float32")):
        S = T.sblock_alloc_buffer((40, 50))
        for i in range(40):
            for j in range(50):
                with T.sblock("S"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    S[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(50):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = S[vi, 49 - vj]

    @T.prim_func(s_tir=True)
    def at_once(n: T.int32, A: T.Buffer((n, 50), "float32"), B: T.Buffer((n, 50), "float32")):
        S = T.sblock_alloc_buffer((n, 50))
        for i in T.parallel(n):
            for j in range(50):
                with T.sblock("S"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.spatial(50, j)
                    S[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(50):
                with T.sblock("B"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.spatial(50, j)
                    B[vi, vj] = S[vi, 49 - vj]

    @T.prim_func(s_tir=True)
    def windows(A: T.Buffer((42, 8), "float32"), B: T.Buffer((40, 8), "float32")):
        # Three rows of each window are two of the next: the iterations have elements in common.
        S = T.sblock_alloc_buffer((42, 8))
        for i in range(40):
            for s, j in T.grid(3, 8):
                with T.sblock("S"):
                    vi = T.axis.spatial(42, i + s)
                    vj = T.axis.spatial(8, j)
                    S[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(8):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = S[vi, vj] + S[vi + 1, vj] + S[vi + 2, vj]

    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer((40, 50), "float32"), B: T.Buffer((50,), "float32")):
        S = T.sblock_alloc_buffer((50,))
        for i, j in T.grid(40, 50):
            with T.sblock("S"):
                vi, vj = T.axis.remap("RS", [i, j])
                with T.init():
                    S[vj] = T.float32(0)
                S[vj] = S[vj] + A[vi, vj]
        for j in range(50):
            with T.sblock("B"):
                vj = T.axis.spatial(50, j)
                B[vj] = S[vj]

    @T.prim_func(s_tir=True)
    def nested(A: T.Buffer((6, 7, 8), "float32"), B: T.Buffer((6, 7, 8), "float32")):
        # Along one axis for two loops; and one element of the other buffer.
        S = T.sblock_alloc_buffer((336,))
        R = T.sblock_alloc_buffer((6, 7, 8))
        for i, j in T.grid(6, 7):
            for k in range(8):
                with T.sblock("S"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    S[vi * 56 + vj * 8 + vk] = A[vi, vj, vk]
            for k in range(8):
                with T.sblock("R"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    R[vi, vj, vk] = S[vi * 56 + vj * 8 + (7 - vk)]
                with T.sblock("B"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    B[vi, vj, vk] = R[vi, vj, vk] + T.float32(1)

    @T.prim_func(s_tir=True)
    def of_any_size(A: T.Buffer(("m",), "float32"), B: T.Buffer((m,), "float32")):
        # What a type says of a number is no size.
        m = T.int32()
        for i in range(4):
            S = T.alloc_buffer(((m - 1) // 10 + 1,), scope="local")
            for j in range((m - 1) // 10 + 1):
                S[j] = A[j]
            for j in range((m - 1) // 10 + 1):
                B[j] = S[j]
