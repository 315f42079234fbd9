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
        for bx in T.thread_binding(T.min(((T.Cast("int64", (m - 1) // 4) + T.int64(1)) * (T.Cast("int64", (n - 1) // 8) + T.int64(1)) + T.int64(63)) // T.int64(64), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(64), thread="threadIdx.x"):
                for round in range((((T.Cast("int64", (m - 1) // 4) + T.int64(1)) * (T.Cast("int64", (n - 1) // 8) + T.int64(1)) + T.int64(63)) // T.int64(64) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(4194240) + bx * T.int64(64) + tx < (T.Cast("int64", (m - 1) // 4) + T.int64(1)) * (T.Cast("int64", (n - 1) // 8) + T.int64(1)):
                        i_o: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (n - 1) // 8) + T.int64(1)))
                        j_o: T.let[T.int32] = T.Cast("int32", T.truncmod(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (n - 1) // 8) + T.int64(1)))
                        if 3 < m - i_o * 4 and 7 < n - j_o * 8:
                            C_sums = T.alloc_buffer((4, 8), scope="local")
                            if k > 0:
                                for i in T.unroll(4):
                                    for j in T.unroll(8):
                                        C_sums[i, j] = T.float32(0.0)
                                for p in range(k):
                                    for i in T.unroll(4):
                                        for j in T.unroll(8):
                                            C_sums[i, j] = C_sums[i, j] + A[i_o * 4 + i, p] * B[p, j_o * 8 + j]
                                for i in T.unroll(4):
                                    for j in T.unroll(8):
                                        C[i_o * 4 + i, j_o * 8 + j] = C_sums[i, j]
                        else:
                            for i, j, p in T.grid(T.min(m - i_o * 4, 4), T.min(n - j_o * 8, 8), k):
                                with T.sblock("C"):
                                    vi = T.axis.spatial(m, i_o * 4 + i)
                                    vj = T.axis.spatial(n, j_o * 8 + j)
                                    vp = T.axis.reduce(k, p)
                                    with T.init():
                                        C[vi, vj] = T.float32(0.0)
                                    C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]

    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", "d"), "float32"), B: T.Buffer((n, d), "float32")):
        n = T.int32()
        d = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((n,))
        for bx in T.thread_binding(T.min((T.Cast("int64", n) + T.int64(15)) // T.int64(16), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(16), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) + T.int64(15)) // T.int64(16) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(1048560) + bx * T.int64(16) + tx < T.Cast("int64", n):
                        for k in range(d):
                            with T.sblock("S"):
                                vi = T.axis.spatial(n, T.Cast("int32", round * T.int64(1048560) + bx * T.int64(16) + tx))
                                vk = T.axis.reduce(d, k)
                                with T.init():
                                    S[vi] = T.float32(0.0)
                                S[vi] = S[vi] + A[vi, vk]
        for bx in T.thread_binding(T.min((T.Cast("int64", n) * (T.Cast("int64", (d - 1) // 64) + T.int64(1)) + T.int64(63)) // T.int64(64), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(64), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) * (T.Cast("int64", (d - 1) // 64) + T.int64(1)) + T.int64(63)) // T.int64(64) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(4194240) + bx * T.int64(64) + tx < T.Cast("int64", n) * (T.Cast("int64", (d - 1) // 64) + T.int64(1)):
                        i: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (d - 1) // 64) + T.int64(1)))
                        j_o: T.let[T.int32] = T.Cast("int32", T.truncmod(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (d - 1) // 64) + T.int64(1)))
                        j_n: T.let[T.int32] = T.min(d - j_o * 64, 64)
                        for j_p in range(j_n // 16):
                            for j_v in T.vectorized(16):
                                with T.sblock("B"):
                                    vi = T.axis.spatial(n, i)
                                    vj = T.axis.spatial(d, j_o * 64 + j_p * 16 + j_v)
                                    B[vi, vj] = A[vi, vj] / S[vi]
                        for j_i in range(j_n % 16):
                            with T.sblock("B"):
                                vi = T.axis.spatial(n, i)
                                vj = T.axis.spatial(d, j_o * 64 + j_n // 16 * 16 + j_i)
                                B[vi, vj] = A[vi, vj] / S[vi]

    @T.prim_func(s_tir=True)
    def fixed(A: T.Buffer((8, 128), "int8"), B: T.Buffer((8, 128), "int8"), C: T.Buffer((128, 40), "int32"), D: T.Buffer((40, 128), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                i: T.let[T.int32] = (bx * 16 + tx) // 2
                j_o: T.let[T.int32] = (bx * 16 + tx) % 2
                for j_p in range(4):
                    for j_v in T.vectorized(16):
                        with T.sblock("B"):
                            vi = T.axis.spatial(8, i)
                            vj = T.axis.spatial(128, j_o * 64 + j_p * 16 + j_v)
                            B[vi, vj] = A[vi, vj] * T.int8(3)
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                if bx * 64 + tx < 80:
                    i: T.let[T.int32] = (bx * 64 + tx) // 2
                    j_o: T.let[T.int32] = (bx * 64 + tx) % 2
                    for j_i in range(64):
                        with T.sblock("D"):
                            vi = T.axis.spatial(40, i)
                            vj = T.axis.spatial(128, j_o * 64 + j_i)
                            D[vi, vj] = C[vj, vi]
