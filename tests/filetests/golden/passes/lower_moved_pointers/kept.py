# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        A_1 = T.decl_buffer((64,), "int32", data=A)
        with T.launch_thread("threadIdx.x", 4) as threadIdx_x:
            U = T.decl_buffer((2,), "int32", data=T.address_of(B_1[A_1[threadIdx_x]]))
            U[0] = threadIdx_x
            V = T.decl_buffer((4,), "int16", data=T.address_of(B_1[threadIdx_x]))
            V[0] = T.int16(1)
            W = T.decl_buffer((2,), "int32", data=T.handle_add_byte_offset(B, threadIdx_x * 2))
            W[0] = 3
