# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def outside(A: T.Buffer((6, 4, 32), "float32"), B: T.Buffer((6,), "float32")):
        # Loops of the reduction around the launch.
        for k, i in T.grid(4, 6):
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                    T.reads(A[vi, vk, vl])
                    T.writes(B[vi])
                    with T.init():
                        B[vi] = T.float32(0.0)
                    B[vi] = B[vi] + A[vi, vk, vl]

    @T.prim_func(s_tir=True)
    def among_launches(A: T.Buffer((4, 32), "int32"), W: T.Buffer((32,), "int32"), B: T.Buffer((1,), "int32")):
        # Each step of the loop outside is two launches: one fills what the other adds up.
        for k in range(4):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("W"):
                    vk = T.axis.opaque(4, k)
                    vt = T.axis.spatial(32, t)
                    W[vt] = A[vk, vt] * 2
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(1, 0)
                    vk, vl = T.axis.remap("RR", [k, l])
                    with T.init():
                        B[vi] = 3
                    B[vi] = B[vi] + W[vl]
