# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def handed_on(A: T.Buffer((16, 32), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((17, 32), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("first"):
                v0 = T.axis.spatial(32, tx)
                S[0, v0] = T.float32(0.0)
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
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((1, 26), scope="shared")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for f in range(4):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    with T.sblock("S"):
                        v0 = T.axis.spatial(4, bx)
                        v1 = T.axis.spatial(26, f * 8 + tx)
                        T.where(f * 8 + tx < 26)
                        S[v0 - bx, v1] = A[v0, v1]
            for f in range(3):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    with T.sblock("B"):
                        v0 = T.axis.spatial(4, bx)
                        v1 = T.axis.spatial(24, f * 8 + tx)
                        B[v0, v1] = S[v0 - bx, v1] + S[v0 - bx, v1 + 2]

    @T.prim_func
    def explicit(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        S = T.alloc_buffer((8, 32), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for k in range(8):
                S[k, tx] = A[k, tx]
                T.tvm_storage_sync("shared")
                B[k, tx] = S[k, 31 - tx]

    @T.prim_func
    def pointed(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        S = T.alloc_buffer((8, 32), scope="local")
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                V = T.decl_buffer((256,), data=S.data, scope="local")
                S[bx, tx] = A[bx, tx]
                B[bx, tx] = V[bx * 32 + tx]
