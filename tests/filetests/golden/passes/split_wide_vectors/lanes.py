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
            values: T.let = A_1[T.Ramp(1 + T.Mul(2, 0), 2, 4)] + T.Broadcast(A_1[3], 4)
            values_1: T.let = A_1[T.Ramp(1 + T.Mul(2, 4), 2, 2)] + T.Broadcast(A_1[3], 2)
            B_1[threadIdx_x * 32 + T.Mul(1, 0):threadIdx_x * 32 + T.Mul(1, 0) + 4] = values
            B_1[threadIdx_x * 32 + T.Mul(1, 4):threadIdx_x * 32 + T.Mul(1, 4) + 2] = values_1
            B_1[threadIdx_x * 32 + 6:threadIdx_x * 32 + 6 + 4] = T.Shuffle([A_1[0 + T.Mul(1, 7)], A_1[40 + T.Mul(1, 1)], A_1[0 + T.Mul(1, 0)], A_1[40 + T.Mul(1, 7)]], [0, 1, 2, 3])
            values_2: T.let = T.masked_load("int32x4", A_1, T.Ramp(30 + T.Mul(1, 0), 1, 4), T.Ramp(30 + T.Mul(1, 0), 1, 4) < T.Broadcast(35, 4))
            values_3: T.let = T.masked_load("int32x4", A_1, T.Ramp(30 + T.Mul(1, 4), 1, 4), T.Ramp(30 + T.Mul(1, 4), 1, 4) < T.Broadcast(35, 4))
            lanes: T.let = T.Ramp(0 + T.Mul(1, 0), 1, 4) < T.Broadcast(7, 4)
            lanes_1: T.let = T.Ramp(0 + T.Mul(1, 4), 1, 4) < T.Broadcast(7, 4)
            T.masked_store(B_1, values_2, T.Ramp(threadIdx_x * 32 + 10 + T.Mul(1, 0), 1, 4), lanes)
            T.masked_store(B_1, values_3, T.Ramp(threadIdx_x * 32 + 10 + T.Mul(1, 4), 1, 4), lanes_1)
            places: T.let = A_1[T.Ramp(threadIdx_x + T.Mul(1, 0), 1, 4)] * T.Broadcast(1, 4)
            places_1: T.let[T.int32] = A_1[threadIdx_x + T.Mul(1, 4)] * 1
            values_4: T.let = T.Select(A_1[T.Ramp(0 + T.Mul(1, 0), 1, 4)] < A_1[T.Ramp(8 + T.Mul(1, 0), 1, 4)], T.Ramp(0 + T.Mul(3, 0), 3, 4), T.Broadcast(7, 4))
            values_5: T.let[T.int32] = T.Select(A_1[0 + T.Mul(1, 4)] < A_1[8 + T.Mul(1, 4)], 0 + T.Mul(3, 4), 7)
            B_1[places] = values_4
            B_1[places_1] = values_5
