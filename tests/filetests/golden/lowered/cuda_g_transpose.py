# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_transpose_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((4096,), data=B_ptr)
        A = T.decl_buffer((4096,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            S = T.alloc_buffer((256,), scope="shared")
            with T.launch_thread("blockIdx.y", 4) as blockIdx_y:
                with T.launch_thread("threadIdx.x", 16) as threadIdx_x:
                    with T.launch_thread("threadIdx.y", 16) as threadIdx_y:
                        cse_v1: T.let[T.int32] = threadIdx_y * 64
                        S[threadIdx_y * 16 + threadIdx_x] = A[blockIdx_x * 1024 + threadIdx_y * 64 + blockIdx_y * 16 + threadIdx_x]
                        T.tvm_storage_sync("shared")
                        B[blockIdx_y * 1024 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x] = S[threadIdx_x * 16 + threadIdx_y]
