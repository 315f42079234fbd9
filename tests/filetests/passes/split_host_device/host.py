from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def host_only(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32"), E: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("E"):
                vi = T.axis.spatial(4, i)
                E[vi] = A[vi] + B[vi] + C[vi] + D[vi]
