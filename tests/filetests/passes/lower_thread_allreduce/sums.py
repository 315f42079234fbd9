# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer((37, 100), "float32"), B: T.Buffer((37,), "float32")):
        for i in T.thread_binding(37, thread="blockIdx.x"):
            for ko in range(4):
                for ki in T.thread_binding(32, thread="threadIdx.x"):
                    with T.sblock("B"):
                        T.where(ko * 32 + ki < 100)
                        vi = T.axis.spatial(37, i)
                        vk = T.axis.reduce(100, ko * 32 + ki)
                        with T.init():
                            B[vi] = T.float32(0)
                        B[vi] = B[vi] + A[vi, vk]

    @T.prim_func(s_tir=True)
    def several(A: T.Buffer((6, 5, 3), "int32"), M: T.Buffer((6,), "int32"), n: T.int32):
        # Two reduced axes of three; the start is no identity.
        for y in T.thread_binding(6, thread="threadIdx.y"):
            for x in T.thread_binding(5, thread="threadIdx.x"):
                for z in T.thread_binding(3, thread="threadIdx.z"):
                    with T.sblock("M"):
                        vi, vj, vk = T.axis.remap("SRR", [y, x, z])
                        with T.init():
                            M[vi] = n
                        M[vi] = M[vi] + A[vi, vj, vk]

    @T.prim_func(s_tir=True)
    def onto(A: T.Buffer((4, 8), "float32"), P: T.Buffer((4,), "float32")):
        # No init: onto what is there.
        for i in T.thread_binding(4, thread="blockIdx.x"):
            for k in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("P"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    P[vi] = P[vi] * A[vi, vk]
