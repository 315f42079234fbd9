# Each of 4096 rows of 1024: to mean 0 and variance 1, then scaled by G and shifted by Bt.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def layernorm(A: T.Buffer((4096, 1024), "float32"), G: T.Buffer((1024,), "float32"), Bt: T.Buffer((1024,), "float32"), O: T.Buffer((4096, 1024), "float32")):
        T.func_attr({"tirx.noalias": True})
        S = T.sblock_alloc_buffer((4096,))
        Q = T.sblock_alloc_buffer((4096,))
        for i, k in T.grid(4096, 1024):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(4096, 1024):
            with T.sblock("Q"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk], S[vi])
                T.writes(Q[vi])
                with T.init():
                    Q[vi] = T.float32(0.0)
                Q[vi] = Q[vi] + (A[vi, vk] - S[vi] * T.float32(0.0009765625)) * (A[vi, vk] - S[vi] * T.float32(0.0009765625))
        for i, j in T.grid(4096, 1024):
            with T.sblock("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], S[vi], Q[vi], G[vj], Bt[vj])
                T.writes(O[vi, vj])
                O[vi, vj] = (A[vi, vj] - S[vi] * T.float32(0.0009765625)) / T.sqrt(Q[vi] * T.float32(0.0009765625) + T.float32(1e-05)) * G[vj] + Bt[vj]
