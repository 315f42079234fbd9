# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def g_vecadd_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global"), C_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tirx.noalias": True})
        # with T.sblock("root"):
        B = T.decl_buffer((1024,), data=B_ptr)
        A = T.decl_buffer((1024,), data=A_ptr)
        C = T.decl_buffer((1024,), data=C_ptr)
        with T.launch_thread("blockIdx.x", 8) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 128) as threadIdx_x:
                cse_v1: T.let[T.int32] = blockIdx_x * 128 + threadIdx_x
                C[blockIdx_x * 128 + threadIdx_x] = A[blockIdx_x * 128 + threadIdx_x] + B[blockIdx_x * 128 + threadIdx_x]
