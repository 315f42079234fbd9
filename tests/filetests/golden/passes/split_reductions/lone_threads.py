# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", 77), "float32"), S: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((T.Cast("int64", n) + T.int64(15)) // T.int64(16), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(16), thread="threadIdx.x"):
                for round in range(((T.Cast("int64", n) + T.int64(15)) // T.int64(16) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(1048560) + bx * T.int64(16) + tx < T.Cast("int64", n):
                        with T.sblock("S"):
                            vi = T.axis.spatial(n, T.Cast("int32", round * T.int64(1048560) + bx * T.int64(16) + tx))
                            S_lanes = T.sblock_alloc_buffer((16,), scope="local")
                            S[vi] = T.float32(0.0)
                            for lane in T.vectorized(16):
                                S_lanes[lane] = T.float32(-0.0)
                            for k_outer in range(4):
                                for lane in T.vectorized(16):
                                    S_lanes[lane] = S_lanes[lane] + A[vi, k_outer * 16 + lane]
                            S[vi] = S[vi] + (S_lanes[0] + S_lanes[1] + (S_lanes[2] + S_lanes[3]) + (S_lanes[4] + S_lanes[5] + (S_lanes[6] + S_lanes[7])) + (S_lanes[8] + S_lanes[9] + (S_lanes[10] + S_lanes[11]) + (S_lanes[12] + S_lanes[13] + (S_lanes[14] + S_lanes[15]))))
                            for k_rest in range(13):
                                S[vi] = S[vi] + A[vi, k_rest + 64]
