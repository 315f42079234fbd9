# Stores that need not stay in caches, of vectors of each size at each distance from a multiple of it; grains of loops.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sizes(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32"), C: T.Buffer((256,), "int8"), D: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(256):
            B[i] = T.float32(0)
            C[i] = T.int8(0)
        with T.attr(B.data, "chipdock.nontemporal", 1):
            for s in range(16):
                for i in range(4):
                    B[T.Ramp(i * 64 + s, 1, 4)] = A[T.Ramp(i * 64, 1, 4)] + T.Broadcast(T.float32(1), 4)
                    B[T.Ramp(i * 64 + s + 8, 1, 8)] = A[T.Ramp(i * 64 + 4, 1, 8)]
                    B[T.Ramp(i * 64 + s + 24, 1, 16)] = A[T.Ramp(i * 64 + s, 1, 16)]
                    B[i] = A[i]
        for s in T.serial(64, annotations={"chipdock.nontemporal": 1}):
            C[T.Ramp(s, 1, 64)] = T.Cast("int8x64", A[T.Ramp(s, 1, 64)])
            C[T.Ramp(s + 100, 1, 16)] = T.Cast("int8x16", A[T.Ramp(s, 1, 16)])
            C[T.Ramp(s + 120, -1, 16)] = T.Broadcast(T.int8(3), 16)
            C[T.Ramp(s + 70, 1, 12)] = T.Broadcast(T.int8(4), 12)
        for s in range(8):
            with T.sblock("D"):
                vs = T.axis.opaque(8, s)
                T.reads(A[vs:vs + 8])
                T.writes(D[vs * 7:vs * 7 + 8])
                T.sblock_attr({"chipdock.nontemporal": 1})
                D[T.Ramp(vs * 7, 1, 8)] = A[T.Ramp(vs, 1, 8)]

    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer((8, 67), "float32"), B: T.Buffer((8, 67), "float32"), n: T.int32):
        T.func_attr({"tirx.noalias": True})
        with T.attr(B.data, "chipdock.nontemporal", 1):
            for i in T.parallel(8, annotations={"chipdock.grain": n + 1}):
                for j in T.vectorized(64):
                    with T.sblock("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = A[vi, vj] * T.float32(2)
        for i in T.parallel(8, annotations={"chipdock.grain": 5}):
            for j in range(3):
                with T.sblock("rest"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(67, j + 64)
                    B[vi, vj] = A[vi, vj] + B[vi, vj - 64]
