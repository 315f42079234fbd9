# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def outside(A: T.Buffer((6, 4, 32), "float32"), B: T.Buffer((6,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for l in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("B"):
                B_own = T.sblock_alloc_buffer((6,), scope="local")
                for i in range(6):
                    B_own[i] = T.float32(0.0)
                for k, i in T.grid(4, 6):
                    with T.sblock("B"):
                        vi = T.axis.spatial(6, i)
                        vk = T.axis.opaque(4, k)
                        vl = T.axis.opaque(32, l)
                        B_own[i] = B_own[i] + A[vi, vk, vl]
                for i in range(6):
                    with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), B_own[i], T.bool(True), B_own[i], l)
                    if l == 0:
                        B[i] = B_own[i]

    @T.prim_func(s_tir=True)
    def among_launches(A: T.Buffer((4, 32), "int32"), W: T.Buffer((32,), "int32"), B: T.Buffer((1,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for k in range(4):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("W"):
                    vk = T.axis.opaque(4, k)
                    vt = T.axis.spatial(32, t)
                    W[vt] = A[vk, vt] * 2
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    B_own = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    B_own[0] = 0
                    with T.sblock("B"):
                        vi = T.axis.spatial(1, 0)
                        vk = T.axis.opaque(4, k)
                        vl = T.axis.opaque(32, l)
                        B_own[0] = B_own[0] + W[vl]
                    with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [0]), "reduce_scope", 0):
                        T.tvm_thread_allreduce(T.uint32(1), B_own[0], T.bool(True), B_own[0], l)
                    if l == 0:
                        B[0] = T.if_then_else(k == 0, 3 + B_own[0], B[0] + B_own[0])
