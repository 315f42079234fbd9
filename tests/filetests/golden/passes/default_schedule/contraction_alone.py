# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(P: T.Buffer(("n", 3, 18, 18), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), O: T.Buffer((n, 8, 16, 16), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min(T.Cast("int64", n), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(64), thread="threadIdx.x"):
                for round in range((T.Cast("int64", n) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(4194240) + bx * T.int64(64) + tx < T.Cast("int64", n) * T.int64(64):
                        b: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(4194240) + bx * T.int64(64) + tx, T.int64(64)))
                        f_o: T.let[T.int32] = T.Cast("int32", (round * T.int64(4194240) + bx * T.int64(64) + tx) // T.int64(32) % T.int64(2))
                        h: T.let[T.int32] = T.Cast("int32", (round * T.int64(4194240) + bx * T.int64(64) + tx) // T.int64(2) % T.int64(16))
                        w_o: T.let[T.int32] = T.Cast("int32", (round * T.int64(4194240) + bx * T.int64(64) + tx) % T.int64(2))
                        O_sums = T.alloc_buffer((4, 8), scope="local")
                        for f in T.unroll(4):
                            for w in T.unroll(8):
                                O_sums[f, w] = T.float32(0.0)
                        for c, kh, kw in T.grid(3, 3, 3):
                            for f in T.unroll(4):
                                for w in T.unroll(8):
                                    O_sums[f, w] = O_sums[f, w] + P[b, c, h + kh, w_o * 8 + w + kw] * W[f_o * 4 + f, c, kh, kw]
                        for f in T.unroll(4):
                            for w in T.unroll(8):
                                O[b, f_o * 4 + f, h, w_o * 8 + w] = O_sums[f, w]

    @T.prim_func(s_tir=True)
    def edges(X: T.Buffer(("n", 4, 5), "int8"), Y: T.Buffer(("m", 4, 5), "int8"), C: T.Buffer((n, m), "int32"), D: T.Buffer((m,), "int32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min(((T.Cast("int64", (n - 1) // 4) + T.int64(1)) * (T.Cast("int64", (m - 1) // 8) + T.int64(1)) + T.int64(63)) // T.int64(64), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(64), thread="threadIdx.x"):
                for round in range((((T.Cast("int64", (n - 1) // 4) + T.int64(1)) * (T.Cast("int64", (m - 1) // 8) + T.int64(1)) + T.int64(63)) // T.int64(64) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(4194240) + bx * T.int64(64) + tx < (T.Cast("int64", (n - 1) // 4) + T.int64(1)) * (T.Cast("int64", (m - 1) // 8) + T.int64(1)):
                        i_o: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (m - 1) // 8) + T.int64(1)))
                        j_o: T.let[T.int32] = T.Cast("int32", T.truncmod(round * T.int64(4194240) + bx * T.int64(64) + tx, T.Cast("int64", (m - 1) // 8) + T.int64(1)))
                        if 3 < n - i_o * 4 and 7 < m - j_o * 8:
                            C_sums = T.alloc_buffer((4, 8), "int32", scope="local")
                            for i in T.unroll(4):
                                for j in T.unroll(8):
                                    C_sums[i, j] = D[j_o * 8 + j]
                            for k, l in T.grid(4, 5):
                                for i in T.unroll(4):
                                    for j in T.unroll(8):
                                        C_sums[i, j] = T.max(C_sums[i, j], T.Cast("int32", X[i_o * 4 + i, k, l]) - T.Cast("int32", Y[j_o * 8 + j, k, l]))
                            for i in T.unroll(4):
                                for j in T.unroll(8):
                                    C[i_o * 4 + i, j_o * 8 + j] = C_sums[i, j]
                        else:
                            for i, j, k, l in T.grid(T.min(n - i_o * 4, 4), T.min(m - j_o * 8, 8), 4, 5):
                                with T.sblock("C"):
                                    vi = T.axis.spatial(n, i_o * 4 + i)
                                    vj = T.axis.spatial(m, j_o * 8 + j)
                                    vk, vl = T.axis.remap("RR", [k, l])
                                    with T.init():
                                        C[vi, vj] = D[vj]
                                    C[vi, vj] = T.max(C[vi, vj], T.Cast("int32", X[vi, vk, vl]) - T.Cast("int32", Y[vj, vk, vl]))
