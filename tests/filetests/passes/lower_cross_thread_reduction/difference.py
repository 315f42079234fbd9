# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def difference(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(8, thread="threadIdx.x"):
            with T.sblock("B"):
                vi = T.axis.spatial(1, 0)
                vk = T.axis.reduce(8, k)
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = A[vk] - B[vi]
