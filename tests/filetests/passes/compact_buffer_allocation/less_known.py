# Regions where less is known: loops that hand values on, predicates, barriers that are explicit, pointers.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def handed_on(A: T.Buffer((16, 32), "float32"), B: T.Buffer((32,), "float32")):
        # What iteration k writes, iteration k + 1 reads: all rows stay.
        S = T.sblock_alloc_buffer((17, 64), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("first"):
                v0 = T.axis.spatial(32, tx)
                S[0, v0] = T.float32(0)
            for k in range(16):
                with T.sblock("next"):
                    vk = T.axis.opaque(16, k)
                    v0 = T.axis.spatial(32, tx)
                    S[vk + 1, v0] = S[vk, v0] + A[vk, v0]
            with T.sblock("last"):
                v0 = T.axis.spatial(32, tx)
                B[v0] = S[16, v0]

    @T.prim_func(s_tir=True)
    def bounded(A: T.Buffer((4, 26), "float32"), B: T.Buffer((4, 24), "float32")):
        # 26 elements of 32 that the loops run through, two of them for the neighbour.
        S = T.sblock_alloc_buffer((4, 64), scope="shared")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for f in range(4):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    with T.sblock("S"):
                        v0 = T.axis.spatial(4, bx)
                        v1 = T.axis.spatial(26, f * 8 + tx)
                        T.where(f * 8 + tx < 26)
                        S[v0, v1] = A[v0, v1]
            for f in range(3):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    with T.sblock("B"):
                        v0 = T.axis.spatial(4, bx)
                        v1 = T.axis.spatial(24, f * 8 + tx)
                        B[v0, v1] = S[v0, v1] + S[v0, v1 + 2]

    @T.prim_func
    def explicit(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        # Its barriers are for rows that are apart.
        S = T.alloc_buffer((8, 32), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for k in range(8):
                S[k, tx] = A[k, tx]
                T.tvm_storage_sync("shared")
                B[k, tx] = S[k, 31 - tx]

    @T.prim_func
    def pointed(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        S = T.alloc_buffer((8, 32), scope="local")
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                V = T.decl_buffer((256,), data=S.data, scope="local")
                S[bx, tx] = A[bx, tx]
                B[bx, tx] = V[bx * 32 + tx]
