# Softmax along each of 4096 rows of 1024, the row's maximum taken off first.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((4096, 1024), "float32"), B: T.Buffer((4096, 1024), "float32")):
        T.func_attr({"tirx.noalias": True})
        M = T.sblock_alloc_buffer((4096,))
        E = T.sblock_alloc_buffer((4096, 1024))
        S = T.sblock_alloc_buffer((4096,))
        for i, k in T.grid(4096, 1024):
            with T.sblock("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(M[vi])
                with T.init():
                    M[vi] = T.float32(-3.4028234663852886e+38)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(4096, 1024):
            with T.sblock("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], M[vi])
                T.writes(E[vi, vj])
                E[vi, vj] = T.exp(A[vi, vj] - M[vi])
        for i, k in T.grid(4096, 1024):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(E[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(4096, 1024):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(E[vi, vj], S[vi])
                T.writes(B[vi, vj])
                B[vi, vj] = E[vi, vj] / S[vi]
