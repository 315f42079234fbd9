# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global"), C: T.handle("int32x8", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        A_1 = T.decl_buffer((64,), "int32", data=A)
        C_1 = T.decl_buffer((8,), "int32x8", data=C)
        C_2 = T.decl_buffer((T.Mul(8, 8),), "int32", data=C)
        with T.launch_thread("threadIdx.x", 2) as threadIdx_x:
            B_1[threadIdx_x * 8:threadIdx_x * 8 + 8] = T.Broadcast(T.call_intrin("int32", "tirx.atomic_add", T.address_of(A_1[0]), 1), 8)
            B_1[threadIdx_x * 2:threadIdx_x * 2 + 2] = T.reinterpret("int32x2", T.Cast("uint8x8", C_1[threadIdx_x]))
            B_1[threadIdx_x * 4:threadIdx_x * 4 + 4] = A_1[T.Ramp(threadIdx_x * 4, 1, 4)]
