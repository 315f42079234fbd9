# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("float16x8", "global"), B: T.handle("float16x8", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((6,), "float16x8", data=A)
        A_2 = T.decl_buffer((T.Mul(6, 8),), "float16", data=A)
        B_1 = T.decl_buffer((6,), "float16x8", data=B)
        B_2 = T.decl_buffer((T.Mul(6, 8),), "float16", data=B)
        with T.launch_thread("threadIdx.x", 6) as threadIdx_x:
            L = T.alloc_buffer((1,), "float16x8", scope="local")
            L_1 = T.decl_buffer((T.Mul(1, 8),), "float16", data=L.data, scope="local")
            values: T.let = A_2[T.Ramp(T.Cast("int64", 5 - threadIdx_x) * T.int64(8) + T.int64(0), T.int64(1), 4)]
            values_1: T.let = A_2[T.Ramp(T.Cast("int64", 5 - threadIdx_x) * T.int64(8) + T.int64(4), T.int64(1), 4)]
            L_1[T.Cast("int64", 0) * T.int64(8) + T.int64(0):T.Cast("int64", 0) * T.int64(8) + T.int64(0) + T.int64(4)] = values
            L_1[T.Cast("int64", 0) * T.int64(8) + T.int64(4):T.Cast("int64", 0) * T.int64(8) + T.int64(4) + T.int64(4)] = values_1
            values_2: T.let = T.Cast("float16x4", T.Cast("float32x4", L_1[T.Ramp(T.Cast("int64", 0) * T.int64(8) + T.int64(0), T.int64(1), 4)]) + T.Cast("float32x4", A_2[T.Ramp(T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(0), T.int64(1), 4)]))
            values_3: T.let = T.Cast("float16x4", T.Cast("float32x4", L_1[T.Ramp(T.Cast("int64", 0) * T.int64(8) + T.int64(4), T.int64(1), 4)]) + T.Cast("float32x4", A_2[T.Ramp(T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(4), T.int64(1), 4)]))
            B_2[T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(0):T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(0) + T.int64(4)] = values_2
            B_2[T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(4):T.Cast("int64", threadIdx_x) * T.int64(8) + T.int64(4) + T.int64(4)] = values_3
