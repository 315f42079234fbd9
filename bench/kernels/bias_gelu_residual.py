# GELU by erf of A plus a bias of each column, plus a residual: 4 M float32.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bias_gelu_residual(A: T.Buffer((4096, 1024), "float32"), Bias: T.Buffer((1024,), "float32"), X: T.Buffer((4096, 1024), "float32"), O: T.Buffer((4096, 1024), "float32")):
        T.func_attr({"tirx.noalias": True})
        S = T.sblock_alloc_buffer((4096, 1024))
        U = T.sblock_alloc_buffer((4096, 1024))
        for i, j in T.grid(4096, 1024):
            with T.sblock("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], Bias[vj])
                T.writes(S[vi, vj])
                S[vi, vj] = A[vi, vj] + Bias[vj]
        for i, j in T.grid(4096, 1024):
            with T.sblock("U"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(S[vi, vj])
                T.writes(U[vi, vj])
                U[vi, vj] = T.float32(0.5) * S[vi, vj] * (T.float32(1.0) + T.erf(S[vi, vj] * T.float32(0.70710678)))
        for i, j in T.grid(4096, 1024):
            with T.sblock("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(U[vi, vj], X[vi, vj])
                T.writes(O[vi, vj])
                O[vi, vj] = U[vi, vj] + X[vi, vj]
