# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global"), B_elem_offset: T.int64, A_elem_offset: T.int64):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((B_elem_offset + T.int64(64),), "int32", data=B)
        A_1 = T.decl_buffer((A_elem_offset + T.int64(64),), "int32", data=A)
        with T.launch_thread("threadIdx.x", 4) as threadIdx_x:
            V = T.decl_buffer((8,), "int32", data=T.address_of(B_1[B_elem_offset + T.Cast("int64", threadIdx_x)]))
            V[0] = A_1[A_elem_offset + T.Cast("int64", threadIdx_x)]
