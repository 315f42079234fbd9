# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def argmax(A: T.Buffer((4, 24), "float32"), V: T.Buffer((4,), "float32"), Index: T.Buffer((4,), "int32")):
        for i in T.thread_binding(4, thread="blockIdx.x"):
            for ko in range(3):
                for ki in T.thread_binding(8, thread="threadIdx.x"):
                    with T.sblock("best"):
                        vi = T.axis.spatial(4, i)
                        vk = T.axis.reduce(24, ko * 8 + ki)
                        with T.init():
                            Index[vi] = -1
                            V[vi] = T.float32("-inf")
                        at: T.let[T.int32] = T.Select(V[vi] > A[vi, vk], Index[vi], vk)
                        best: T.let[T.float32] = T.Select(V[vi] > A[vi, vk], V[vi], A[vi, vk])
                        Index[vi] = at
                        V[vi] = best

    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((3, 40), "float32"), B: T.Buffer((3, 40), "float32")):
        M = T.sblock_alloc_buffer((3,), scope="shared")
        S = T.sblock_alloc_buffer((3,), scope="local")
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("M"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        M[vi] = T.float32("-inf")
                    M[vi] = T.max(M[vi], A[vi, vk])
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("S"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        S[vi] = T.float32(0)
                    S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    B[vi, vk] = T.exp(A[vi, vk] - M[vi]) / S[vi]

    @T.prim_func(s_tir=True)
    def tiled(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8,), "float32")):
        # Loops that are not of the reduction within it.
        for ko in T.thread_binding(4, thread="threadIdx.y"):
            for kx in T.thread_binding(4, thread="threadIdx.x"):
                for ki in range(4):
                    for i in range(8):
                        with T.sblock("B"):
                            vi = T.axis.spatial(8, i)
                            vk = T.axis.reduce(64, ko * 16 + ki * 4 + kx)
                            with T.init():
                                B[vi] = T.float32(0)
                            B[vi] = B[vi] + A[vi, vk]
