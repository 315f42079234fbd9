# Real imports, and what a file does when Python runs it.

from __future__ import annotations

import sys
from typing import TypeVar

from tvm.script import ir as II
from tvm.script import tirx as TT

m = TypeVar("m")


@II.ir_module
class Kernels:
    @TT.prim_func(s_tir=True)
    def typed(A: TT.Buffer((m,), "float32"), B: TT.Buffer((m,), "float32")):
        for i in range(m):
            A[i] = B[i]


if __name__ == "__main__":
    sys.exit(0)
