# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((1024,), data=A.data)
        B_1 = T.decl_buffer((1024,), data=B.data)
        T.tvm_call_packed("kernel_kernel", A.data, B.data, T.int64(4), T.int64(256))

    @T.prim_func
    def kernel_kernel(A: T.handle("float32", "global"), B: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        B_1 = T.decl_buffer((1024,), data=B)
        A_1 = T.decl_buffer((1024,), data=A)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 256) as threadIdx_x:
                B_1[blockIdx_x * 256 + threadIdx_x] = A_1[blockIdx_x * 256 + threadIdx_x] * T.float32(2.0)
