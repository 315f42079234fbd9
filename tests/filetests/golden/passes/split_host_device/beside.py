# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def first(A: T.Buffer((64,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((64,), data=A.data)
        T.tvm_call_packed("first_kernel", A.data, T.int64(64))

    @T.prim_func
    def second(A: T.Buffer((64,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((64,), data=A.data)
        T.tvm_call_packed("second_kernel", A.data, T.int64(64))

    @T.prim_func
    def first_kernel(A: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((64,), data=A)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            A_1[threadIdx_x] = A_1[threadIdx_x] + T.float32(1.0)

    @T.prim_func
    def second_kernel(A: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((64,), data=A)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            A_1[threadIdx_x] = A_1[threadIdx_x] - T.float32(1.0)
