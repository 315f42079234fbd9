# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def vectors(A: T.Buffer(("n", 64), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((n, 64), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", n) * T.int64(16) + T.int64(255)) // T.int64(256), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(256), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) * T.int64(16) + T.int64(255)) // T.int64(256) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(16776960) + bx * T.int64(256) + tx < T.Cast("int64", n) * T.int64(16):
                        for j_v in T.vectorized(4):
                            with T.sblock("C"):
                                vi = T.axis.spatial(n, T.Cast("int32", T.truncdiv(round * T.int64(16776960) + bx * T.int64(256) + tx, T.int64(16))))
                                vj = T.axis.spatial(64, T.Cast("int32", (round * T.int64(16776960) + bx * T.int64(256) + tx) % T.int64(16)) * 4 + j_v)
                                C[vi, vj] = A[vi, vj] * B[vj] + T.sqrt(A[vi, vj])

    @T.prim_func(s_tir=True)
    def wide(A: T.Buffer((64, 30), "float64"), B: T.Buffer((64, 30), "int8")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                if bx * 256 + tx < 960:
                    for j_v in T.vectorized(2):
                        B[(bx * 256 + tx) // 15, (bx * 256 + tx) % 15 * 2 + j_v] = T.Cast("int8", A[(bx * 256 + tx) // 15, (bx * 256 + tx) % 15 * 2 + j_v])

    @T.prim_func(s_tir=True)
    def apart(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                B[(bx * 256 + tx) // 64, (bx * 256 + tx) % 64] = A[(bx * 256 + tx) // 64, 63 - (bx * 256 + tx) % 64]
