# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_sumred_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((37,), data=B_ptr)
        A = T.decl_buffer((4736,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 37) as blockIdx_x:
            red_result = T.alloc_buffer((1,), scope="shared", annotations={"tirx.volatile": True})
            with T.launch_thread("threadIdx.x", 128) as threadIdx_x:
                with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                    red_buf_staging = T.alloc_buffer((4,), scope="shared")
                    t0 = T.alloc_buffer((1,), scope="local")
                    mask = T.alloc_buffer((1,), "uint32", scope="local")
                    red_buf0 = T.alloc_buffer((1,), scope="local")
                    t0_1 = T.alloc_buffer((1,), scope="local")
                    mask_1 = T.alloc_buffer((1,), "uint32", scope="local")
                    red_buf0_1 = T.alloc_buffer((1,), scope="local")
                    red_buf0[0] = A[blockIdx_x * 128 + threadIdx_x]
                    mask[0] = T.tvm_warp_activemask()
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 16, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 8, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 4, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 2, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 1, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    if T.truncmod(threadIdx_x, 32) == 0:
                        red_buf_staging[threadIdx_x >> 5] = red_buf0[0]
                    T.tvm_storage_sync("shared")
                    if threadIdx_x < 4:
                        red_buf0_1[0] = red_buf_staging[threadIdx_x]
                    mask_1[0] = T.tvm_warp_activemask()
                    t0_1[0] = T.tvm_warp_shuffle_down(mask_1[0], red_buf0_1[0], 2, 32, 32)
                    red_buf0_1[0] = red_buf0_1[0] + t0_1[0]
                    t0_1[0] = T.tvm_warp_shuffle_down(mask_1[0], red_buf0_1[0], 1, 32, 32)
                    red_buf0_1[0] = red_buf0_1[0] + t0_1[0]
                    if threadIdx_x == 0:
                        red_result[0] = red_buf0_1[0]
                    T.tvm_storage_sync("shared")
                if threadIdx_x == 0:
                    B[blockIdx_x] = red_result[0]
