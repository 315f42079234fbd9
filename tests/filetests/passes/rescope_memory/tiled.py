from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def tiled(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        # A schedule of a GPU before its loops are bound.
        A_shared = T.sblock_alloc_buffer((64, 64), scope="shared")
        B_shared = T.sblock_alloc_buffer((64, 64), scope="shared.dyn")
        C_local = T.sblock_alloc_buffer((64, 64), scope="local")
        for i_0, j_0 in T.grid(4, 4):
            for k_0 in range(8):
                for ax0, ax1 in T.grid(16, 8):
                    with T.sblock("A_shared"):
                        v0 = T.axis.spatial(64, i_0 * 16 + ax0)
                        v1 = T.axis.spatial(64, k_0 * 8 + ax1)
                        A_shared[v0, v1] = A[v0, v1]
                for ax0, ax1 in T.grid(8, 16):
                    with T.sblock("B_shared"):
                        v0 = T.axis.spatial(64, k_0 * 8 + ax0)
                        v1 = T.axis.spatial(64, j_0 * 16 + ax1)
                        B_shared[v0, v1] = B[v0, v1]
                for i_1, j_1, k_1 in T.grid(16, 16, 8):
                    with T.sblock("C"):
                        vi = T.axis.spatial(64, i_0 * 16 + i_1)
                        vj = T.axis.spatial(64, j_0 * 16 + j_1)
                        vk = T.axis.reduce(64, k_0 * 8 + k_1)
                        with T.init():
                            C_local[vi, vj] = T.float32(0)
                        C_local[vi, vj] = C_local[vi, vj] + A_shared[vi, vk] * B_shared[vk, vj]
            for ax0, ax1 in T.grid(16, 16):
                with T.sblock("C_local"):
                    v0 = T.axis.spatial(64, i_0 * 16 + ax0)
                    v1 = T.axis.spatial(64, j_0 * 16 + ax1)
                    C[v0, v1] = C_local[v0, v1]
