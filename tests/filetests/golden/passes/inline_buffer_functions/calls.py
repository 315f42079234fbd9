# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        A_1 = T.decl_buffer((64,), "int32", data=A)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            n: T.let[T.int32] = 4
            x: T.let[T.int32] = A_1[blockIdx_x] + 1
            P = T.decl_buffer((n + blockIdx_x * 16,), "int32", data=B)
            Q = T.decl_buffer((n,), "int32", data=A)
            for i in range(n):
                P[i + blockIdx_x * 16] = Q[i] + x
            x_1: T.let[T.int32] = x
            R = T.decl_buffer((4 + (1 + blockIdx_x * 16),), "int32", data=B)
            R[1 + (1 + blockIdx_x * 16)] = R[0 + (1 + blockIdx_x * 16)] * x_1
            n_1: T.let[T.int32] = 3
            x_2: T.let[T.int32] = blockIdx_x
            P_1 = T.decl_buffer((n_1 + (blockIdx_x * 16 + 8),), "int32", data=B)
            Q_1 = T.decl_buffer((n_1 + blockIdx_x,), "int32", data=A)
            for i in range(n_1):
                P_1[i + (blockIdx_x * 16 + 8)] = Q_1[i + blockIdx_x] + x_2
            x_3: T.let[T.int32] = x_2
            R_1 = T.decl_buffer((4 + (1 + (blockIdx_x * 16 + 8)),), "int32", data=B)
            R_1[1 + (1 + (blockIdx_x * 16 + 8))] = R_1[0 + (1 + (blockIdx_x * 16 + 8))] * x_3
