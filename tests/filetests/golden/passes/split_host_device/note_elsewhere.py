# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def two(A: T.Buffer((64,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((64,), data=A.data)
        with T.attr({"device_scope": 0}):
            T.tvm_call_packed("two_kernel", A.data, T.int64(64))
            T.tvm_call_packed("two_kernel_1", A.data, T.int64(1), T.int64(16))

    @T.prim_func
    def two_kernel(A: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((64,), data=A)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            A_1[threadIdx_x] = A_1[threadIdx_x] + T.float32(1.0)

    @T.prim_func
    def two_kernel_1(A: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        A_1 = T.decl_buffer((64,), data=A)
        with T.launch_thread("blockIdx.x", 1) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 16) as threadIdx_x:
                A_1[blockIdx_x * 64 + threadIdx_x * 4:blockIdx_x * 64 + threadIdx_x * 4 + 4] = A_1[T.Ramp(blockIdx_x * 64 + threadIdx_x * 4, 1, 4)] * T.Broadcast(T.float32(2.0), 4)
