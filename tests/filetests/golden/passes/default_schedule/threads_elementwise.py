# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constant(A: T.Buffer((100, 30), "float32"), B: T.Buffer((100, 30), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(12, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                if bx * 256 + tx < 3000:
                    with T.sblock("B"):
                        vi = T.axis.spatial(100, (bx * 256 + tx) // 30)
                        vj = T.axis.spatial(30, (bx * 256 + tx) % 30)
                        B[vi, vj] = A[vi, vj] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n, m), "float32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", n) * T.Cast("int64", m) + T.int64(255)) // T.int64(256), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(256), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) * T.Cast("int64", m) + T.int64(255)) // T.int64(256) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(16776960) + bx * T.int64(256) + tx < T.Cast("int64", n) * T.Cast("int64", m):
                        with T.sblock("B"):
                            vi = T.axis.spatial(n, T.Cast("int32", T.truncdiv(round * T.int64(16776960) + bx * T.int64(256) + tx, T.Cast("int64", m))))
                            vj = T.axis.spatial(m, T.Cast("int32", T.truncmod(round * T.int64(16776960) + bx * T.int64(256) + tx, T.Cast("int64", m))))
                            B[vi, vj] = A[vi, vj] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def one_axis(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), k: T.int32):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", n) + T.int64(255)) // T.int64(256), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(256), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) + T.int64(255)) // T.int64(256) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(16776960) + bx * T.int64(256) + tx < T.Cast("int64", n):
                        B[T.Cast("int32", round * T.int64(16776960) + bx * T.int64(256) + tx)] = A[T.Cast("int32", round * T.int64(16776960) + bx * T.int64(256) + tx)]
        for bx in T.thread_binding(T.min((T.Cast("int64", T.max(k, 0)) + T.int64(255)) // T.int64(256), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(256), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", T.max(k, 0)) + T.int64(255)) // T.int64(256) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(16776960) + bx * T.int64(256) + tx < T.Cast("int64", T.max(k, 0)):
                        B[T.Cast("int32", round * T.int64(16776960) + bx * T.int64(256) + tx)] = A[T.Cast("int32", round * T.int64(16776960) + bx * T.int64(256) + tx)] + B[T.Cast("int32", round * T.int64(16776960) + bx * T.int64(256) + tx)]

    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4, 0), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        pass
