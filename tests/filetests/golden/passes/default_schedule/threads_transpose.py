# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constant(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            i_o: T.let[T.int32] = bx // 4
            j_o: T.let[T.int32] = bx % 4
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                A_shared = T.alloc_buffer((16, 17), scope="shared")
                with T.sblock("B_read"):
                    A_shared[tx // 16, tx % 16] = A[j_o * 16 + tx // 16, i_o * 16 + tx % 16]
                with T.sblock("B_write"):
                    B[i_o * 16 + tx // 16, j_o * 16 + tx % 16] = A_shared[tx % 16, tx // 16]

    @T.prim_func(s_tir=True)
    def batched(A: T.Buffer((4, "m", "n"), "float32"), D: T.Buffer((m,), "float32"), B: T.Buffer((4, n, m), "float32")):
        m = T.int32()
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", (n - 1) // 16) * T.int64(4) + T.int64(4)) * (T.Cast("int64", (m - 1) // 16) + T.int64(1)), T.int64(65535)), thread="blockIdx.x"):
            for round in range(((T.Cast("int64", (n - 1) // 16) * T.int64(4) + T.int64(4)) * (T.Cast("int64", (m - 1) // 16) + T.int64(1)) + T.int64(65534)) // T.int64(65535)):
                if round * T.int64(65535) + bx < (T.Cast("int64", (n - 1) // 16) * T.int64(4) + T.int64(4)) * (T.Cast("int64", (m - 1) // 16) + T.int64(1)):
                    b: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(65535) + bx, (T.Cast("int64", (n - 1) // 16) + T.int64(1)) * (T.Cast("int64", (m - 1) // 16) + T.int64(1))))
                    i_o: T.let[T.int32] = T.Cast("int32", T.truncmod(T.truncdiv(round * T.int64(65535) + bx, T.Cast("int64", (m - 1) // 16) + T.int64(1)), T.Cast("int64", (n - 1) // 16) + T.int64(1)))
                    j_o: T.let[T.int32] = T.Cast("int32", T.truncmod(round * T.int64(65535) + bx, T.Cast("int64", (m - 1) // 16) + T.int64(1)))
                    for tx in T.thread_binding(256, thread="threadIdx.x"):
                        A_shared = T.alloc_buffer((16, 17), scope="shared")
                        with T.sblock("B_read"):
                            if tx // 16 < m - j_o * 16 and tx % 16 < n - i_o * 16:
                                A_shared[tx // 16, tx % 16] = A[b, j_o * 16 + tx // 16, i_o * 16 + tx % 16]
                        with T.sblock("B_write"):
                            if tx % 16 < m - j_o * 16 and tx // 16 < n - i_o * 16:
                                B[b, i_o * 16 + tx // 16, j_o * 16 + tx % 16] = A_shared[tx % 16, tx // 16] * T.float32(2.0) + D[j_o * 16 + tx % 16]
