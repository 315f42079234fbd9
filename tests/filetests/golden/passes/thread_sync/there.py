# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def there(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        B_1 = T.decl_buffer((32,), data=B.data)
        S = T.alloc_buffer((32,), scope="shared")
        D = T.alloc_buffer((32,), scope="shared.dyn")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S[tx] = A_1[tx]
            T.tvm_storage_sync("shared")
            D[tx] = S[31 - tx]
            T.tvm_storage_sync("shared.dyn")
            B_1[tx] = D[31 - tx]

    @T.prim_func
    def explicit(A_ptr: T.handle("float32", "global")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((32,), data=A_ptr)
        S = T.alloc_buffer((32,), scope="shared")
        with T.launch_thread("threadIdx.x", 32) as tx:
            S[tx] = A[tx]
            T.tvm_storage_sync("shared")
            A[tx] = S[31 - tx]
