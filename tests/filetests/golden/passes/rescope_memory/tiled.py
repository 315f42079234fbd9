# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def tiled(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_shared = T.alloc_buffer((16, 64))
        B_shared = T.alloc_buffer((64, 64))
        C_local = T.alloc_buffer((16, 16), scope="local")
        for i_0, j_0 in T.grid(4, 4):
            for i_1, j_1 in T.grid(16, 16):
                C_local[i_1, j_1] = T.float32(0.0)
            for k_0 in range(8):
                for ax0, ax1 in T.grid(16, 8):
                    A_shared[ax0, k_0 * 8 + ax1] = A[i_0 * 16 + ax0, k_0 * 8 + ax1]
                for ax0, ax1 in T.grid(8, 16):
                    B_shared[k_0 * 8 + ax0, j_0 * 16 + ax1] = B[k_0 * 8 + ax0, j_0 * 16 + ax1]
                for i_1, j_1, k_1 in T.grid(16, 16, 8):
                    C_local[i_1, j_1] = C_local[i_1, j_1] + A_shared[i_1, k_0 * 8 + k_1] * B_shared[k_0 * 8 + k_1, j_0 * 16 + j_1]
            for ax0, ax1 in T.grid(16, 16):
                C[i_0 * 16 + ax0, j_0 * 16 + ax1] = C_local[ax0, ax1]
