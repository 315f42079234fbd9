# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def product(A: T.Buffer((64, 96), "float32"), B: T.Buffer((96, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        C_local = T.sblock_alloc_buffer((2, 2), scope="local")
        A_shared = T.sblock_alloc_buffer((16, 8), strides=(9, 1), scope="shared")
        B_shared = T.sblock_alloc_buffer((8, 16), scope="shared")
        for by in T.thread_binding(4, thread="blockIdx.y"):
            for bx in T.thread_binding(4, thread="blockIdx.x"):
                for ty in T.thread_binding(8, thread="threadIdx.y"):
                    for tx in T.thread_binding(8, thread="threadIdx.x"):
                        for i, j in T.grid(2, 2):
                            with T.sblock("C_init"):
                                vi = T.axis.spatial(64, by * 16 + ty * 2 + i)
                                vj = T.axis.spatial(64, bx * 16 + tx * 2 + j)
                                C_local[vi - by * 16 - ty * 2, vj - bx * 16 - tx * 2] = T.float32(0.0)
                        for k_0 in range(12):
                            for f_0 in range(2):
                                for f_1 in T.thread_binding(8, thread="threadIdx.y"):
                                    for f_2 in T.thread_binding(8, thread="threadIdx.x"):
                                        with T.sblock("A_shared"):
                                            v0 = T.axis.spatial(64, by * 16 + (f_0 * 64 + f_1 * 8 + f_2) // 8)
                                            v1 = T.axis.spatial(96, k_0 * 8 + (f_0 * 64 + f_1 * 8 + f_2) % 8)
                                            T.reads(A[v0, v1])
                                            T.writes(A_shared[0:16, 0:8])
                                            T.sblock_attr({"buffer_dim_align": [[0, 0, 4, 1]]})
                                            A_shared[v0 - by * 16, v1 - k_0 * 8] = A[v0, v1]
                            for f_0 in range(2):
                                for f_1 in T.thread_binding(8, thread="threadIdx.y"):
                                    for f_2 in T.thread_binding(8, thread="threadIdx.x"):
                                        with T.sblock("B_shared"):
                                            v0 = T.axis.spatial(96, k_0 * 8 + (f_0 * 64 + f_1 * 8 + f_2) // 16)
                                            v1 = T.axis.spatial(64, bx * 16 + (f_0 * 64 + f_1 * 8 + f_2) % 16)
                                            T.reads(B[v0, v1])
                                            T.writes(B_shared[0:8, 0:16])
                                            B_shared[v0 - k_0 * 8, v1 - bx * 16] = B[v0, v1]
                            for k_1, i, j in T.grid(8, 2, 2):
                                with T.sblock("C_update"):
                                    vi = T.axis.spatial(64, by * 16 + ty * 2 + i)
                                    vj = T.axis.spatial(64, bx * 16 + tx * 2 + j)
                                    vk = T.axis.reduce(96, k_0 * 8 + k_1)
                                    C_local[vi - by * 16 - ty * 2, vj - bx * 16 - tx * 2] = C_local[vi - by * 16 - ty * 2, vj - bx * 16 - tx * 2] + A_shared[vi - by * 16, vk - k_0 * 8] * B_shared[vk - k_0 * 8, vj - bx * 16]
                        for i, j in T.grid(2, 2):
                            with T.sblock("C"):
                                vi = T.axis.spatial(64, by * 16 + ty * 2 + i)
                                vj = T.axis.spatial(64, bx * 16 + tx * 2 + j)
                                C[vi, vj] = C_local[vi - by * 16 - ty * 2, vj - bx * 16 - tx * 2]
