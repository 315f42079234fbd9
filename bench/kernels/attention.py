# Attention of 8 heads, 512 positions of 64: softmax(Q K^T / 8) V, in one kernel.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def attention(Q: T.Buffer((1, 8, 512, 64), "float32"), K: T.Buffer((1, 8, 512, 64), "float32"), V: T.Buffer((1, 8, 512, 64), "float32"), O: T.Buffer((1, 8, 512, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        C = T.sblock_alloc_buffer((1, 8, 512, 512))
        M = T.sblock_alloc_buffer((1, 8, 512))
        E = T.sblock_alloc_buffer((1, 8, 512, 512))
        S = T.sblock_alloc_buffer((1, 8, 512))
        P = T.sblock_alloc_buffer((1, 8, 512, 512))
        for b, h, i, j, k in T.grid(1, 8, 512, 512, 64):
            with T.sblock("C"):
                vb, vh, vi, vj, vk = T.axis.remap("SSSSR", [b, h, i, j, k])
                T.reads(Q[vb, vh, vi, vk], K[vb, vh, vj, vk])
                T.writes(C[vb, vh, vi, vj])
                with T.init():
                    C[vb, vh, vi, vj] = T.float32(0.0)
                C[vb, vh, vi, vj] = C[vb, vh, vi, vj] + Q[vb, vh, vi, vk] * K[vb, vh, vj, vk]
        for b, h, i, j in T.grid(1, 8, 512, 512):
            with T.sblock("M"):
                vb, vh, vi, vj = T.axis.remap("SSSR", [b, h, i, j])
                T.reads(C[vb, vh, vi, vj])
                T.writes(M[vb, vh, vi])
                with T.init():
                    M[vb, vh, vi] = T.float32(-3.4028234663852886e+38)
                M[vb, vh, vi] = T.max(M[vb, vh, vi], C[vb, vh, vi, vj] * T.float32(0.125))
        for b, h, i, j in T.grid(1, 8, 512, 512):
            with T.sblock("E"):
                vb, vh, vi, vj = T.axis.remap("SSSS", [b, h, i, j])
                T.reads(C[vb, vh, vi, vj], M[vb, vh, vi])
                T.writes(E[vb, vh, vi, vj])
                E[vb, vh, vi, vj] = T.exp(C[vb, vh, vi, vj] * T.float32(0.125) - M[vb, vh, vi])
        for b, h, i, j in T.grid(1, 8, 512, 512):
            with T.sblock("S"):
                vb, vh, vi, vj = T.axis.remap("SSSR", [b, h, i, j])
                T.reads(E[vb, vh, vi, vj])
                T.writes(S[vb, vh, vi])
                with T.init():
                    S[vb, vh, vi] = T.float32(0.0)
                S[vb, vh, vi] = S[vb, vh, vi] + E[vb, vh, vi, vj]
        for b, h, i, j in T.grid(1, 8, 512, 512):
            with T.sblock("P"):
                vb, vh, vi, vj = T.axis.remap("SSSS", [b, h, i, j])
                T.reads(E[vb, vh, vi, vj], S[vb, vh, vi])
                T.writes(P[vb, vh, vi, vj])
                P[vb, vh, vi, vj] = E[vb, vh, vi, vj] / S[vb, vh, vi]
        for b, h, i, d, j in T.grid(1, 8, 512, 64, 512):
            with T.sblock("O"):
                vb, vh, vi, vd, vj = T.axis.remap("SSSSR", [b, h, i, d, j])
                T.reads(P[vb, vh, vi, vj], V[vb, vh, vj, vd])
                T.writes(O[vb, vh, vi, vd])
                with T.init():
                    O[vb, vh, vi, vd] = T.float32(0.0)
                O[vb, vh, vi, vd] = O[vb, vh, vi, vd] + P[vb, vh, vi, vj] * V[vb, vh, vj, vd]
