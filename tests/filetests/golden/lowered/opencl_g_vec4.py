# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_vec4_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"image_base_address_alignment": 64, "keys": ["opencl", "gpu"], "kind": "opencl", "max_function_args": 128, "max_num_threads": 256, "max_shared_memory_per_block": 16384, "max_threads_per_block": 256, "tag": "", "texture_depth_limit": 2048, "texture_spatial_limit": 16384, "thread_warp_size": 1}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tirx.noalias": True})
        # with T.sblock("root"):
        A = T.decl_buffer((1024,), data=A_ptr)
        B = T.decl_buffer((1024,), data=B_ptr)
        with T.launch_thread("blockIdx.x", 2) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 128) as threadIdx_x:
                cse_v1: T.let[T.int32] = blockIdx_x * 512 + threadIdx_x * 4
                B[blockIdx_x * 512 + threadIdx_x * 4:blockIdx_x * 512 + threadIdx_x * 4 + 4] = A[T.Ramp(blockIdx_x * 512 + threadIdx_x * 4, 1, 4)] * T.Broadcast(T.float32(2.0), 4)
