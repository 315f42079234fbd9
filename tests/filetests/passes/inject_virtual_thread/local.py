# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer((4, 64), "float32"), B: T.Buffer((64,), "float32")):
        R = T.sblock_alloc_buffer((1,), scope="local")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for vx in T.thread_binding(2, thread="vthread.x"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for k in range(4):
                        with T.sblock("R"):
                            vi = T.axis.spatial(64, bx * 32 + vx * 16 + tx)
                            vk = T.axis.reduce(4, k)
                            with T.init():
                                R[0] = T.float32(0)
                            R[0] = R[0] + A[vk, vi]
                    with T.sblock("B"):
                        vi = T.axis.spatial(64, bx * 32 + vx * 16 + tx)
                        B[vi] = R[0]
