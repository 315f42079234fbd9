# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def softmax(A: T.Buffer((4, 77), "float32"), B: T.Buffer((4, 77), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        M = T.alloc_buffer((4,))
        S = T.alloc_buffer((4,))
        for i in range(4):
            with T.sblock("M"):
                vi = T.axis.spatial(4, i)
                M_lanes = T.sblock_alloc_buffer((16,))
                M[vi] = T.float32(-3.402823466e38)
                for lane in T.vectorized(16):
                    M_lanes[lane] = T.float32("-inf")
                for k_outer in range(4):
                    for lane in T.vectorized(16):
                        M_lanes[lane] = T.max(M_lanes[lane], A[vi, k_outer * 16 + lane])
                M[vi] = T.max(M[vi], T.max(T.max(T.max(T.max(M_lanes[0], M_lanes[1]), T.max(M_lanes[2], M_lanes[3])), T.max(T.max(M_lanes[4], M_lanes[5]), T.max(M_lanes[6], M_lanes[7]))), T.max(T.max(T.max(M_lanes[8], M_lanes[9]), T.max(M_lanes[10], M_lanes[11])), T.max(T.max(M_lanes[12], M_lanes[13]), T.max(M_lanes[14], M_lanes[15])))))
                for k_rest in range(13):
                    M[vi] = T.max(M[vi], A[vi, k_rest + 64])
        for i in range(4):
            with T.sblock("S"):
                vi = T.axis.spatial(4, i)
                S_lanes = T.sblock_alloc_buffer((16,))
                S[vi] = T.float32(0.0)
                for lane in T.vectorized(16):
                    S_lanes[lane] = T.float32(-0.0)
                for k_outer in range(4):
                    for lane in T.vectorized(16):
                        S_lanes[lane] = S_lanes[lane] + T.exp(A[vi, k_outer * 16 + lane] - M[vi])
                S[vi] = S[vi] + (S_lanes[0] + S_lanes[1] + (S_lanes[2] + S_lanes[3]) + (S_lanes[4] + S_lanes[5] + (S_lanes[6] + S_lanes[7])) + (S_lanes[8] + S_lanes[9] + (S_lanes[10] + S_lanes[11]) + (S_lanes[12] + S_lanes[13] + (S_lanes[14] + S_lanes[15]))))
                for k_rest in range(13):
                    S[vi] = S[vi] + T.exp(A[vi, k_rest + 64] - M[vi])
        for i, j in T.grid(4, 77):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] / S[vi]
