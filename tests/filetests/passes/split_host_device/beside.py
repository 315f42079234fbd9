# A function without threads beside one with them: the one with them is named.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def first(A: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("A"):
                vi = T.axis.spatial(64, tx)
                A[vi] = A[vi] + T.float32(1)

    @T.prim_func(s_tir=True)
    def second(A: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("A"):
                vi = T.axis.spatial(64, tx)
                A[vi] = A[vi] - T.float32(1)
