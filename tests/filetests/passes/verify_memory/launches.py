# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def filled_before(A: T.Buffer((4, 32), "float32"), B: T.Buffer((1,), "float32")):
        A_shared = T.sblock_alloc_buffer((4, 32), scope="shared")
        for i, k in T.grid(1, 4):
            for ax0 in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("A_shared"):
                    v0, v1 = T.axis.remap("SS", [k, ax0])
                    A_shared[v0, v1] = A[v0, v1]
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                    with T.init():
                        B[vi] = T.float32(0.0)
                    B[vi] = B[vi] + A_shared[vk, vl]

    @T.prim_func(s_tir=True)
    def added_up(A: T.Buffer((4, 32), "float32"), B: T.Buffer((32,), "float32")):
        # The sum of a thread would have to outlive the launches of the loop.
        S = T.sblock_alloc_buffer((32,), scope="local")
        for k in range(4):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("S"):
                    vt, vk = T.axis.remap("SR", [t, k])
                    with T.init():
                        S[vt] = T.float32(0.0)
                    S[vt] = S[vt] + A[vk, vt]
                with T.sblock("B"):
                    vt = T.axis.spatial(32, t)
                    B[vt] = S[vt]

    @T.prim_func(s_tir=True)
    def by_host(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.sblock_alloc_buffer((1,), scope="shared")
        S[0] = T.float32(2.0)
        for t in T.thread_binding(32, thread="threadIdx.x"):
            B[t] = A[t] * S[0]

    @T.prim_func(s_tir=True)
    def own_each_time(A: T.Buffer((4, 30), "float32"), B: T.Buffer((4, 30), "float32")):
        # Right: each launch fills what it reads.
        S = T.sblock_alloc_buffer((32,), scope="shared")
        for k in range(4):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("S"):
                    vt = T.axis.spatial(32, t)
                    T.where(k * 30 + t < 120)
                    S[31 - vt] = A[(k * 30 + vt) // 30, (k * 30 + vt) % 30]
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vt = T.axis.spatial(30, t)
                    T.where(t < 30)
                    B[k, vt] = B[k, vt] + T.float32(1.0)
