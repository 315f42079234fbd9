# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def reverse(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((256,), data=A.data)
        B_1 = T.decl_buffer((256,), data=B.data)
        S = T.alloc_buffer((128,), scope="shared")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                S[tx] = A_1[bx * 128 + tx]
            T.tvm_storage_sync("shared")
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                B_1[bx * 128 + tx] = S[127 - tx]

    @T.prim_func
    def own(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((128,), data=A.data)
        B_1 = T.decl_buffer((128,), data=B.data)
        S = T.alloc_buffer((512,), scope="shared")
        for tx in T.thread_binding(128, thread="threadIdx.x"):
            for k in range(4):
                S[k * 128 + tx] = A_1[tx]
            for k in range(4):
                S[k * 128 + tx] = S[k * 128 + tx] + T.float32(1.0)
            B_1[tx] = S[tx]

    @T.prim_func
    def halves(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((64,), data=A.data)
        B_1 = T.decl_buffer((64,), data=B.data)
        S = T.alloc_buffer((128,), scope="shared")
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            S[tx] = A_1[tx]
            S[127 - tx] = A_1[tx]
            T.tvm_storage_sync("shared")
            B_1[tx] = S[tx + 64] + S[63 - tx]
