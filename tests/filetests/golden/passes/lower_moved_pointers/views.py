# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((64,), "int32", data=A)
        with T.launch_thread("threadIdx.x", 4) as threadIdx_x:
            V = T.decl_buffer((T.Cast("int64", 8) + T.int64(10),), "int32", data=B)
            V[T.Cast("int64", threadIdx_x) + T.int64(10)] = A_1[threadIdx_x]
            W = T.decl_buffer((T.Cast("int64", 4) + (T.Cast("int64", threadIdx_x + 4) + T.int64(10)),), "int32", data=B)
            W[T.Cast("int64", 0) + (T.Cast("int64", threadIdx_x + 4) + T.int64(10))] = V[T.Cast("int64", threadIdx_x) + T.int64(10)] * 2
            X = T.decl_buffer((T.Cast("int64", 4) + T.Cast("int64", threadIdx_x) * T.int64(4),), "int32", data=B)
            X[T.Cast("int64x4", T.Ramp(0, 1, 4)) + T.Broadcast(T.Cast("int64", threadIdx_x) * T.int64(4), 4)] = X[T.Cast("int64x4", T.Ramp(0, 1, 4)) + T.Broadcast(T.Cast("int64", threadIdx_x) * T.int64(4), 4)] + T.Broadcast(W[T.Cast("int64", 0) + (T.Cast("int64", threadIdx_x + 4) + T.int64(10))], 4)
