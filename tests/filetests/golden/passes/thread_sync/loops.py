# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def tiles(A: T.Buffer((16, 256), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((4096,), data=A.data)
        B_1 = T.decl_buffer((16,), data=B.data)
        S = T.alloc_buffer((256,), scope="shared")
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    if ty == 0:
                        B_1[tx] = T.float32(0.0)
                    for k in range(16):
                        S[ty * 16 + tx] = A_1[ty * 256 + k * 16 + tx]
                        T.tvm_storage_sync("shared")
                        for j in range(16):
                            if ty == 0:
                                B_1[tx] = B_1[tx] + S[tx * 16 + j]
                        T.tvm_storage_sync("shared")

    @T.prim_func
    def carried(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        S = T.alloc_buffer((64,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S[tx] = A_1[tx]
            T.tvm_storage_sync("shared")
            for k in range(n):
                S[(k + 1) % 2 * 32 + tx] = S[k % 2 * 32 + (tx + 1) % 32]
                T.tvm_storage_sync("shared")
            B_1[tx] = S[n % 2 * 32 + tx]
