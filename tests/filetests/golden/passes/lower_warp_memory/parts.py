# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def parts(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((192,), data=A_ptr)
        B = T.decl_buffer((192,), data=B_ptr)
        W = T.alloc_buffer((6,), scope="local")
        with T.launch_thread("threadIdx.x", 32) as tx:
            for i, j in T.grid(3, 2):
                W[i * 2 + j] = A[i * 64 + tx * 2 + j]
            T.tvm_storage_sync("warp")
            for i, j in T.grid(3, 2):
                mask: T.let[T.uint32] = T.tvm_warp_activemask()
                W_other = T.alloc_buffer((1,), scope="local")
                W_other[0] = T.tvm_warp_shuffle(mask, W[i * 2 + j], 31 - tx, 32, 32)
                B[i * 64 + tx * 2 + j] = W_other[0] - W[i * 2 + j]
