# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer((37, 100), "float32"), B: T.Buffer((37,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in T.thread_binding(37, thread="blockIdx.x"):
            with T.sblock("B"):
                B_own = T.sblock_alloc_buffer((1,), scope="local")
                B_own[0] = T.float32(0.0)
                for ko in range(4):
                    for ki in T.thread_binding(32, thread="threadIdx.x"):
                        with T.sblock("B"):
                            vi = T.axis.spatial(37, i)
                            vk = T.axis.opaque(100, ko * 32 + ki)
                            T.where(ko * 32 + ki < 100)
                            B_own[0] = B_own[0] + A[vi, vk]
                for ki in T.thread_binding(32, thread="threadIdx.x"):
                    with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), B_own[0], T.bool(True), B_own[0], ki)
                    if ki == 0:
                        B[i] = B_own[0]

    @T.prim_func(s_tir=True)
    def several(A: T.Buffer((6, 5, 3), "int32"), M: T.Buffer((6,), "int32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for y in T.thread_binding(6, thread="threadIdx.y"):
            for x in T.thread_binding(5, thread="threadIdx.x"):
                for z in T.thread_binding(3, thread="threadIdx.z"):
                    with T.sblock("M"):
                        M_own = T.sblock_alloc_buffer((1,), "int32", scope="local")
                        M_own[0] = 0
                        with T.sblock("M"):
                            vi = T.axis.spatial(6, y)
                            vj = T.axis.opaque(5, x)
                            vk = T.axis.opaque(3, z)
                            M_own[0] = M_own[0] + A[vi, vj, vk]
                        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [0]), "reduce_scope", 0):
                            T.tvm_thread_allreduce(T.uint32(1), M_own[0], T.bool(True), M_own[0], x, z)
                        if x == 0 and z == 0:
                            M[y] = n + M_own[0]

    @T.prim_func(s_tir=True)
    def onto(A: T.Buffer((4, 8), "float32"), P: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in T.thread_binding(4, thread="blockIdx.x"):
            for k in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("P"):
                    P_own = T.sblock_alloc_buffer((1,), scope="local")
                    P_own[0] = T.float32(1.0)
                    with T.sblock("P"):
                        vi = T.axis.spatial(4, i)
                        vk = T.axis.opaque(8, k)
                        P_own[0] = P_own[0] * A[vi, vk]
                    with T.attr(T.comm_reducer(lambda x0, y0: x0 * y0, [T.float32(1.0)]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), P_own[0], T.bool(True), P_own[0], k)
                    if k == 0:
                        P[i] = P[i] * P_own[0]
