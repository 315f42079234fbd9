# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def turned(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((256,), data=A.data)
        B_1 = T.decl_buffer((256,), data=B.data)
        W = T.alloc_buffer((1,), scope="local")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            with T.attr({"chipdock.implicit_barriers": 1}):
                for tx in T.thread_binding(64, thread="threadIdx.x"):
                    W[0] = A_1[bx * 64 + tx]
                    mask: T.let[T.uint32] = T.tvm_warp_activemask()
                    W_other = T.alloc_buffer((1,), scope="local")
                    W_other[0] = T.tvm_warp_shuffle(mask, W[0], (tx % 32 + 31) % 32, 32, 32)
                    B_1[bx * 64 + tx] = T.if_then_else(tx % 32 > 0, W_other[0], T.float32(0.0))

    @T.prim_func
    def rows(A_ptr: T.handle("int32", "global"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((64,), "int32", data=A_ptr)
        W = T.alloc_buffer((1,), "int32", scope="local")
        with T.launch_thread("threadIdx.y", 8) as ty:
            with T.launch_thread("threadIdx.x", 8) as tx:
                W[0] = A[ty * 8 + tx]
                T.tvm_storage_sync("warp")
                if n > 4:
                    mask: T.let[T.uint32] = T.tvm_warp_activemask()
                    W_other = T.alloc_buffer((1,), "int32", scope="local")
                    W_other[0] = T.tvm_warp_shuffle(mask, W[0], tx * 4 + ty % 4, 32, 32)
                    A[ty * 8 + tx] = W_other[0]
