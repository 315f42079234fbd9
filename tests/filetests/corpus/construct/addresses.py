# Addresses as numbers, which hosts alone have; stores of float64 past the caches, which some devices lack.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def aligned(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
        # The elements before the first that is aligned, then whole vectors, then the rest; n is a number of bytes.
        T.func_attr({"tirx.noalias": True})
        n: T.let[T.int64] = T.Cast("int64", (T.uint64(64) - T.reinterpret("uint64", B.data) % T.uint64(64)) % T.uint64(64))
        first: T.let[T.int64] = n // T.int64(4)
        for i in range(first):
            B[i] = A[i]
        with T.attr(B.data, "chipdock.nontemporal", 1):
            for i in range((T.int64(100) - first) // T.int64(16)):
                B[T.Ramp(first + i * T.int64(16), T.int64(1), 16)] = A[T.Ramp(first + i * T.int64(16), T.int64(1), 16)]
        for i in range((T.int64(100) - first) % T.int64(16)):
            B[T.int64(99) - i] = A[T.int64(99) - i]

    @T.prim_func(s_tir=True)
    def wide(A: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float64")):
        T.func_attr({"tirx.noalias": True})
        for s in T.serial(8, annotations={"chipdock.nontemporal": 1}):
            D[T.Ramp(s * 7, 1, 8)] = T.Cast("float64x8", A[T.Ramp(s, 1, 8)])
