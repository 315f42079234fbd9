# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_matmul_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global"), C_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((262144,), data=B_ptr)
        A = T.decl_buffer((262144,), data=A_ptr)
        C = T.decl_buffer((262144,), data=C_ptr)
        with T.launch_thread("blockIdx.y", 32) as blockIdx_y:
            with T.launch_thread("blockIdx.x", 32) as blockIdx_x:
                with T.launch_thread("threadIdx.y", 16) as threadIdx_y:
                    with T.launch_thread("threadIdx.x", 16) as threadIdx_x:
                        for k in range(512):
                            cse_v1: T.let[T.int32] = blockIdx_x * 16
                            cse_v2: T.let[T.int32] = blockIdx_y * 8192 + threadIdx_y * 512
                            cse_v3: T.let[T.int32] = blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x
                            if k == 0:
                                C[blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x] = T.float32(0.0)
                            C[blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x] = C[blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x] + A[blockIdx_y * 8192 + threadIdx_y * 512 + k] * B[k * 512 + blockIdx_x * 16 + threadIdx_x]
