# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def three(A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float64")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((24,), data=A.data)
        B_1 = T.decl_buffer((24,), "float64", data=B.data)
        for tx in T.thread_binding(24, thread="threadIdx.x"):
            dynamic = T.alloc_buffer((27,), "float64", scope="shared.dyn")
            S = T.decl_buffer((5,), "int8", data=dynamic.data, scope="shared.dyn")
            F = T.decl_buffer((5,), data=dynamic.data, scope="shared.dyn")
            D = T.decl_buffer((27,), "float64", data=dynamic.data, scope="shared.dyn")
            if tx < 5:
                S[tx] = T.Cast("int8", tx)
            if tx < 3:
                F[tx + 2] = A_1[tx]
            D[tx + 3] = T.Cast("float64", A_1[tx])
            T.tvm_storage_sync("shared.dyn")
            B_1[tx] = D[26 - tx] + T.Cast("float64", F[tx % 3 + 2]) + T.Cast("float64", S[tx % 5])

    @T.prim_func
    def one(A: T.Buffer((24,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((24,), data=A.data)
        S = T.alloc_buffer((24,), scope="shared.dyn")
        for tx in T.thread_binding(24, thread="threadIdx.x"):
            S[tx] = A_1[tx]
            T.tvm_storage_sync("shared.dyn")
            A_1[tx] = S[23 - tx]
