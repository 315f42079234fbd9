# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("float32", "global"), B: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        B_1 = T.decl_buffer((96,), data=B)
        A_1 = T.decl_buffer((96,), data=A)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 32) as threadIdx_x:
                if blockIdx_x * 32 + threadIdx_x < 96:
                    B_1[blockIdx_x * 32 + threadIdx_x] = A_1[blockIdx_x * 32 + threadIdx_x] + T.Cast("float32", blockIdx_x)
                for i in range(4):
                    B_1[i + 2] = B_1[7 - i]
