# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def branch(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        S = T.alloc_buffer((16,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            taken: T.let[T.bool] = tx < 16
            if taken:
                S[tx] = A_1[tx] * T.float32(2.0)
            T.tvm_storage_sync("shared")
            for k in range(4):
                if taken:
                    B_1[tx] = S[(tx + k + 1) % 16]
                T.tvm_storage_sync("shared")
                if taken:
                    S[tx] = B_1[tx]
                T.tvm_storage_sync("shared")

    @T.prim_func
    def sides(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        S = T.alloc_buffer((32,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            if A_1[tx] > T.float32(0.0):
                S[tx] = A_1[tx]
                x = T.alloc_buffer((1,), scope="local")
                x[0] = A_1[tx] * T.float32(3.0)
                B_1[tx] = x[0]
            else:
                S[tx] = T.float32(-1.0)
            T.tvm_storage_sync("shared")
            B_1[tx] = B_1[tx] + S[31 - tx]

    @T.prim_func
    def uniform(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        S = T.alloc_buffer((16,), scope="shared")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                if bx < n:
                    S[tx] = A_1[bx * 16 + tx]
                    T.tvm_storage_sync("shared")
                    B_1[bx * 16 + tx] = S[15 - tx]
