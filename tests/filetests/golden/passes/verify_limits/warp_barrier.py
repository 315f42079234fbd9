# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def turned(A_ptr: T.handle("int32", "global"), B_ptr: T.handle("int32", "global")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A = T.decl_buffer((32,), "int32", data=A_ptr)
        B = T.decl_buffer((32,), "int32", data=B_ptr)
        T.tvm_call_packed("turned_kernel", A_ptr, B_ptr, T.int64(32))

    @T.prim_func
    def turned_kernel(A_ptr: T.handle("int32", "global"), B_ptr: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B = T.decl_buffer((32,), "int32", data=B_ptr)
        A = T.decl_buffer((32,), "int32", data=A_ptr)
        with T.launch_thread("threadIdx.x", 32) as threadIdx_x:
            B[threadIdx_x] = A[threadIdx_x]
            T.tvm_storage_sync("warp")
            A[threadIdx_x] = B[31 - threadIdx_x]
