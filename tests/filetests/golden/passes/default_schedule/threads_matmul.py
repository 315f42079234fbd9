# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer(("m", "k"), "float32"), B: T.Buffer((k, "n"), "float32"), C: T.Buffer((m, n), "float32")):
        m = T.int32()
        k = T.int32()
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", (m - 1) // 64) + T.int64(1)) * (T.Cast("int64", (n - 1) // 64) + T.int64(1)), T.int64(65535)), thread="blockIdx.x"):
            for round in range(((T.Cast("int64", (m - 1) // 64) + T.int64(1)) * (T.Cast("int64", (n - 1) // 64) + T.int64(1)) + T.int64(65534)) // T.int64(65535)):
                if round * T.int64(65535) + bx < (T.Cast("int64", (m - 1) // 64) + T.int64(1)) * (T.Cast("int64", (n - 1) // 64) + T.int64(1)):
                    i_o: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(65535) + bx, T.Cast("int64", (n - 1) // 64) + T.int64(1)))
                    j_o: T.let[T.int32] = T.Cast("int32", T.truncmod(round * T.int64(65535) + bx, T.Cast("int64", (n - 1) // 64) + T.int64(1)))
                    for tx in T.thread_binding(256, thread="threadIdx.x"):
                        A_shared = T.alloc_buffer((64, 5), scope="shared")
                        B_shared = T.alloc_buffer((4, 64), scope="shared")
                        A_own = T.alloc_buffer((4,), scope="local")
                        B_own = T.alloc_buffer((4,), scope="local")
                        C_sums = T.alloc_buffer((4, 4), scope="local")
                        with T.sblock("C_start"):
                            for i in T.unroll(4):
                                for j in T.unroll(4):
                                    C_sums[i, j] = T.float32(-0.0)
                        for p_o in range((k - 1) // 4 + 1):
                            with T.sblock("A_shared"):
                                A_shared[tx // 4, tx % 4] = T.if_then_else(tx // 4 < m - i_o * 64 and tx % 4 < k - p_o * 4, A[i_o * 64 + tx // 4, p_o * 4 + tx % 4], T.float32(0.0))
                            with T.sblock("B_shared"):
                                B_shared[tx // 64, tx % 64] = T.if_then_else(tx // 64 < k - p_o * 4 and tx % 64 < n - j_o * 64, B[p_o * 4 + tx // 64, j_o * 64 + tx % 64], T.float32(0.0))
                            with T.sblock("C_update"):
                                for k_1 in range(4):
                                    for i in T.unroll(4):
                                        A_own[i] = A_shared[i * 16 + tx // 16, k_1]
                                    for i in T.unroll(4):
                                        B_own[i] = B_shared[k_1, i * 16 + tx % 16]
                                    for i in T.unroll(4):
                                        for j in T.unroll(4):
                                            C_sums[i, j] = C_sums[i, j] + A_own[i] * B_own[j]
                        with T.sblock("C_write"):
                            if k > 0:
                                for i in T.unroll(4):
                                    for j in T.unroll(4):
                                        if i * 16 + tx // 16 < m - i_o * 64 and j * 16 + tx % 16 < n - j_o * 64:
                                            C[i_o * 64 + i * 16 + tx // 16, j_o * 64 + j * 16 + tx % 16] = T.float32(0.0) + C_sums[i, j]

    @T.prim_func(s_tir=True)
    def batched(A: T.Buffer((3, 64, 32), "int8"), B: T.Buffer((3, 40, 32), "int8"), D: T.Buffer((40,), "int32"), C: T.Buffer((3, 64, 40), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(3, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                A_shared = T.alloc_buffer((64, 17), "int8", scope="shared")
                B_shared = T.alloc_buffer((16, 65), "int8", scope="shared")
                A_own = T.alloc_buffer((4,), "int8", scope="local")
                B_own = T.alloc_buffer((4,), "int8", scope="local")
                C_sums = T.alloc_buffer((4, 4), "int32", scope="local")
                with T.sblock("C_start"):
                    for i in T.unroll(4):
                        for j in T.unroll(4):
                            C_sums[i, j] = 0
                for k_o in range(2):
                    with T.sblock("A_shared"):
                        for r in range(4):
                            A_shared[(r * 256 + tx) // 16, (r * 256 + tx) % 16] = A[bx, T.Mul(0, 64) + (r * 256 + tx) // 16, k_o * 16 + (r * 256 + tx) % 16]
                    with T.sblock("B_shared"):
                        for r in range(4):
                            B_shared[(r * 256 + tx) % 16, (r * 256 + tx) // 16] = T.if_then_else((r * 256 + tx) // 16 < 40 - T.Mul(0, 64), B[bx, T.Mul(0, 64) + (r * 256 + tx) // 16, k_o * 16 + (r * 256 + tx) % 16], T.int8(0))
                    with T.sblock("C_update"):
                        for k in range(16):
                            for i in T.unroll(4):
                                A_own[i] = A_shared[i * 16 + tx // 16, k]
                            for i in T.unroll(4):
                                B_own[i] = B_shared[k, i * 16 + tx % 16]
                            for i in T.unroll(4):
                                for j in T.unroll(4):
                                    C_sums[i, j] = C_sums[i, j] + T.Cast("int32", A_own[i]) * T.Cast("int32", B_own[j])
                with T.sblock("C_write"):
                    for i in T.unroll(4):
                        for j in T.unroll(4):
                            if j * 16 + tx % 16 < 40 - T.Mul(0, 64):
                                C[bx, T.Mul(0, 64) + i * 16 + tx // 16, T.Mul(0, 64) + j * 16 + tx % 16] = D[T.Mul(0, 64) + j * 16 + tx % 16] + C_sums[i, j]
