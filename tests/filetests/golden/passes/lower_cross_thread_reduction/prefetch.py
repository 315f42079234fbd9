# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def ragged_product(A: T.Buffer((24, 91), "float32"), X: T.Buffer((91,), "float32"), Y: T.Buffer((24,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        A_shared = T.sblock_alloc_buffer((4, 20), scope="shared")
        for i_0 in T.thread_binding(6, thread="blockIdx.x"):
            with T.sblock("Y"):
                Y_own = T.sblock_alloc_buffer((1,), scope="local")
                Y_own[0] = T.float32(0.0)
                for k_0 in range(5):
                    for ax0 in T.thread_binding(4, thread="threadIdx.y"):
                        for ax1 in T.thread_binding(20, thread="threadIdx.x"):
                            with T.sblock("A_shared"):
                                v0 = T.axis.spatial(24, i_0 * 4 + ax0)
                                v1 = T.axis.spatial(91, k_0 * 20 + ax1)
                                T.where(k_0 * 20 + ax1 < 91)
                                T.reads(A[v0, v1])
                                T.writes(A_shared[v0 % 4, v1 % 20])
                                A_shared[v0 % 4, v1 % 20] = A[v0, v1]
                    for i_1 in T.thread_binding(4, thread="threadIdx.y"):
                        for k_1 in T.thread_binding(20, thread="threadIdx.x"):
                            with T.sblock("Y"):
                                vi = T.axis.spatial(24, i_0 * 4 + i_1)
                                vk = T.axis.opaque(91, k_0 * 20 + k_1)
                                T.where(k_0 * 20 + k_1 < 91)
                                Y_own[0] = Y_own[0] + A_shared[vi % 4, vk % 20] * X[vk]
                for i_1 in T.thread_binding(4, thread="threadIdx.y"):
                    for k_1 in T.thread_binding(20, thread="threadIdx.x"):
                        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                            T.tvm_thread_allreduce(T.uint32(1), Y_own[0], T.bool(True), Y_own[0], k_1)
                        if k_1 == 0:
                            Y[i_0 * 4 + i_1] = Y_own[0]

    @T.prim_func(s_tir=True)
    def so_far(A: T.Buffer((8, 64), "int32"), S: T.Buffer((8,), "int32"), P: T.Buffer((8, 4), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in T.thread_binding(8, thread="blockIdx.x"):
            for k_0 in range(4):
                for k_1 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("S"):
                        S_own = T.sblock_alloc_buffer((1,), "int32", scope="local")
                        S_own[0] = 0
                        with T.sblock("S"):
                            vi = T.axis.spatial(8, i)
                            vk = T.axis.opaque(64, k_0 * 16 + k_1)
                            S_own[0] = S_own[0] + A[vi, vk]
                        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [0]), "reduce_scope", 0):
                            T.tvm_thread_allreduce(T.uint32(1), S_own[0], T.bool(True), S_own[0], k_1)
                        if k_1 == 0:
                            S[i] = T.if_then_else(k_0 * 16 == 0, 5 + S_own[0], S[i] + S_own[0])
                        T.tvm_storage_sync("shared")
                for t in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("P"):
                        vi, vk = T.axis.remap("SS", [i, k_0])
                        T.where(t == 0)
                        P[vi, vk] = S[vi]
