# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def argmax(A: T.Buffer((4, 24), "float32"), V: T.Buffer((4,), "float32"), Index: T.Buffer((4,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in T.thread_binding(4, thread="blockIdx.x"):
            with T.sblock("best"):
                Index_own = T.sblock_alloc_buffer((1,), "int32", scope="local")
                V_own = T.sblock_alloc_buffer((1,), scope="local")
                Index_own[0] = -1
                V_own[0] = T.float32("-inf")
                for ko in range(3):
                    for ki in T.thread_binding(8, thread="threadIdx.x"):
                        with T.sblock("best"):
                            vi = T.axis.spatial(4, i)
                            vk = T.axis.opaque(24, ko * 8 + ki)
                            at: T.let[T.int32] = T.Select(V_own[0] > A[vi, vk], Index_own[0], vk)
                            best: T.let[T.float32] = T.Select(V_own[0] > A[vi, vk], V_own[0], A[vi, vk])
                            Index_own[0] = at
                            V_own[0] = best
                for ki in T.thread_binding(8, thread="threadIdx.x"):
                    with T.attr(T.comm_reducer(lambda x0, x1, y0, y1: (T.Select(x1 > y1, x0, y0), T.Select(x1 > y1, x1, y1)), [-1, T.float32("-inf")]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(2), Index_own[0], V_own[0], T.bool(True), Index_own[0], V_own[0], ki)
                    if ki == 0:
                        Index[i] = Index_own[0]
                        V[i] = V_own[0]

    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((3, 40), "float32"), B: T.Buffer((3, 40), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        M = T.sblock_alloc_buffer((3,), scope="shared")
        S = T.sblock_alloc_buffer((3,), scope="local")
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("M"):
                    M_own = T.sblock_alloc_buffer((1,), scope="local")
                    M_own[0] = T.float32("-inf")
                    with T.sblock("M"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.opaque(40, k)
                        M_own[0] = T.max(M_own[0], A[vi, vk])
                    with T.attr(T.comm_reducer(lambda x0, y0: T.max(x0, y0), [T.float32("-inf")]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), M_own[0], T.bool(True), M_own[0], k)
                    if k == 0:
                        M[i] = M_own[0]
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("S"):
                    S_own = T.sblock_alloc_buffer((1,), scope="local")
                    S_own[0] = T.float32(0.0)
                    with T.sblock("S"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.opaque(40, k)
                        S_own[0] = S_own[0] + T.exp(A[vi, vk] - M[vi])
                    with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), S_own[0], T.bool(True), S_own[0], k)
                    S[i] = S_own[0]
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    B[vi, vk] = T.exp(A[vi, vk] - M[vi]) / S[vi]

    @T.prim_func(s_tir=True)
    def tiled(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for ko in T.thread_binding(4, thread="threadIdx.y"):
            for kx in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("B"):
                    B_own = T.sblock_alloc_buffer((8,), scope="local")
                    for i in range(8):
                        B_own[i] = T.float32(0.0)
                    for ki, i in T.grid(4, 8):
                        with T.sblock("B"):
                            vi = T.axis.spatial(8, i)
                            vk = T.axis.opaque(64, ko * 16 + ki * 4 + kx)
                            B_own[i] = B_own[i] + A[vi, vk]
                    for i in range(8):
                        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                            T.tvm_thread_allreduce(T.uint32(1), B_own[i], T.bool(True), B_own[i], kx, ko)
                        if kx == 0 and ko == 0:
                            B[i] = B_own[i]
