# Names below `T` and `I` by whatever the imports say.

import tvm
import tvm.script as sc
from tvm import script
from tvm import tirx as lib
from tvm.script import ir_module
from tvm.script import tirx as T
from tvm.script.tirx import exp, prim_func
from tvm.tirx import sqrt as root


@tvm.script.ir_module
class Full:
    @tvm.script.tirx.prim_func(s_tir=True)
    def full(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = tvm.tirx.exp(A[i]) + tvm.script.tirx.sin(A[i]) + lib.cos(A[i]) + sc.tirx.tanh(A[i])


@ir_module
class Short:
    @prim_func
    def short(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = exp(A[i]) + root(A[i])


@script.ir_module
class Mixed:
    @sc.tirx.prim_func
    def mixed(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            B[i] = tvm.tirx.if_then_else(i > 2, A[i], tvm.tirx.max(A[i], tvm.tirx.Cast("float32", i)))
        B[0] = tvm.tirx.FloatImm("float32", 2.5)
        B[1] = tvm.tirx.max_value("float32")


class Bare:
    @T.prim_func
    def bare(A: T.Buffer((16,), "float32")):
        A[0] = T.float32(1)
