# Sum of 16 M float32 to one.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sum(A: T.Buffer((16777216,), "float32"), B: T.Buffer((1,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(1, 16777216):
            with T.sblock("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vk])
                T.writes(B[vi])
                with T.init():
                    B[vi] = T.float32(0.0)
                B[vi] = B[vi] + A[vk]
