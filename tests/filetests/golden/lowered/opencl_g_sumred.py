# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_sumred_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"image_base_address_alignment": 64, "keys": ["opencl", "gpu"], "kind": "opencl", "max_function_args": 128, "max_num_threads": 256, "max_shared_memory_per_block": 16384, "max_threads_per_block": 256, "tag": "", "texture_depth_limit": 2048, "texture_spatial_limit": 16384, "thread_warp_size": 1}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((37,), data=B_ptr)
        A = T.decl_buffer((4736,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 37) as blockIdx_x:
            red_buf0 = T.alloc_buffer((128,), scope="shared", annotations={"tirx.volatile": True})
            with T.launch_thread("threadIdx.x", 128) as threadIdx_x:
                with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                    T.tvm_storage_sync("shared")
                    red_buf0[threadIdx_x] = A[blockIdx_x * 128 + threadIdx_x]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 64:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 64]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 32:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 32]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 16:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 16]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 8:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 8]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 4:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 4]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 2:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 2]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 1:
                        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 1]
                    T.tvm_storage_sync("shared")
                if threadIdx_x == 0:
                    B[blockIdx_x] = red_buf0[0]
