# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def reused(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            dynamic = T.alloc_buffer((64,), scope="shared.dyn")
            S = T.decl_buffer((32,), data=dynamic.data, scope="shared.dyn")
            G = T.decl_buffer((64,), data=dynamic.data, scope="shared.dyn")
            F = T.decl_buffer((16,), data=dynamic.data, scope="shared.dyn")
            S[tx] = A_1[tx]
            T.tvm_storage_sync("shared.dyn")
            G[tx + 32] = S[31 - tx]
            T.tvm_storage_sync("shared")
            if tx < 16:
                F[tx] = G[tx + 48]
            T.tvm_storage_sync("shared.dyn")
            B_1[tx] = F[(tx + 1) % 16] + G[63 - tx]

    @T.prim_func
    def twice(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            dynamic = T.alloc_buffer((64,), scope="shared.dyn")
            S = T.decl_buffer((32,), data=dynamic.data, scope="shared.dyn")
            G = T.decl_buffer((64,), "int32", data=dynamic.data, scope="shared.dyn")
            S[tx] = A_1[tx]
            G[tx + 32] = tx * 2
            T.tvm_storage_sync("shared.dyn")
            B_1[tx] = S[31 - tx] + T.Cast("float32", G[63 - tx])
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S = T.alloc_buffer((32,), scope="shared.dyn")
            S[tx] = B_1[tx]
            T.tvm_storage_sync("shared.dyn")
            A_1[tx] = S[31 - tx]
