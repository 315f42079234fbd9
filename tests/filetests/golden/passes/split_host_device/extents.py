# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def typed(n: T.int32, C: T.Buffer((n,), "float32"), A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        C_1 = T.decl_buffer((n,), data=C.data)
        A_1 = T.decl_buffer((64,), data=A.data)
        B_1 = T.decl_buffer((64,), data=B.data)
        T.tvm_call_packed("typed_kernel", A.data, B.data, n, T.max(T.Cast("int64", n), T.int64(0)), T.int64(64))
        T.tvm_call_packed("typed_kernel_1", C.data, n, T.max(T.Cast("int64", n), T.int64(0)))

    @T.prim_func
    def typed_kernel(A: T.handle("float32", "global"), B: T.handle("float32", "global"), n: T.int32):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        A_1 = T.decl_buffer((64,), data=A)
        B_1 = T.decl_buffer((64,), data=B)
        with T.launch_thread("blockIdx.x", n) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
                S = T.alloc_buffer((64,), scope="shared")
                S[threadIdx_x] = A_1[threadIdx_x]
                T.tvm_storage_sync("shared")
                if blockIdx_x == 0:
                    B_1[T.Cast("int32", T.Cast("int64", threadIdx_x))] = S[T.Cast("int32", T.int64(63) - T.Cast("int64", threadIdx_x))]

    @T.prim_func
    def typed_kernel_1(C: T.handle("float32", "global"), n: T.int32):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x"]})
        C_1 = T.decl_buffer((n,), data=C)
        with T.launch_thread("blockIdx.x", n) as blockIdx_x:
            C_1[blockIdx_x] = T.float32(2.0)
