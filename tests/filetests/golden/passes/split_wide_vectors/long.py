# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        A_1 = T.decl_buffer((64,), "int32", data=A)
        with T.launch_thread("threadIdx.x", 2) as threadIdx_x:
            B_1[threadIdx_x * 32:threadIdx_x * 32 + 6] = A_1[T.Ramp(1, 2, 6)]
