# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("uint16", "global"), B: T.handle("uint16", "global"), C: T.handle("uint16", "global"), D: T.handle("uint16", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A_1 = T.decl_buffer((64,), "uint16", data=A)
        C_1 = T.decl_buffer((64,), "uint16", data=C)
        D_1 = T.decl_buffer((64,), "uint16", data=D)
        B_1 = T.decl_buffer((64,), "uint16", data=B)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            S = T.alloc_buffer((64,), "uint16", scope="shared")
            S[threadIdx_x] = T.if_then_else(threadIdx_x < 4, A_1[threadIdx_x + 60], T.uint16(48640))
            T.tvm_storage_sync("shared")
            C_1[threadIdx_x] = S[63 - threadIdx_x]
            if threadIdx_x < 8:
                for j in range(4):
                    D_1[threadIdx_x * 8 + j] = B_1[threadIdx_x * 8 + j + 4]
                    D_1[threadIdx_x * 8 + j + 4] = T.uint16(15821)
