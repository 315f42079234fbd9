# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_dynshm_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((256,), data=B_ptr)
        A = T.decl_buffer((256,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 1) as blockIdx_x:
            S = T.alloc_buffer((256,), scope="shared.dyn")
            with T.launch_thread("threadIdx.x", 256) as threadIdx_x:
                S[threadIdx_x] = A[threadIdx_x]
                T.tvm_storage_sync("shared.dyn")
                B[threadIdx_x] = S[255 - threadIdx_x]
