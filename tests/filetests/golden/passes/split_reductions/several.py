# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def moments(A: T.Buffer((8, 96), "float64"), S: T.Buffer((8,), "float64"), Q: T.Buffer((8,), "float64")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            with T.sblock("S"):
                vi = T.axis.spatial(8, i)
                S_lanes = T.sblock_alloc_buffer((8,), "float64")
                Q_lanes = T.sblock_alloc_buffer((8,), "float64")
                S[vi] = T.float64(1.0)
                Q[vi] = T.float64(0.0)
                for lane in T.vectorized(8):
                    S_lanes[lane] = T.float64(-0.0)
                    Q_lanes[lane] = T.float64(-0.0)
                for k_outer in range(12):
                    for lane in T.vectorized(8):
                        a: T.let[T.float64] = A[vi, k_outer * 8 + lane]
                        S_lanes[lane] = S_lanes[lane] + a
                        Q_lanes[lane] = a * a + Q_lanes[lane]
                S[vi] = S[vi] + (S_lanes[0] + S_lanes[1] + (S_lanes[2] + S_lanes[3]) + (S_lanes[4] + S_lanes[5] + (S_lanes[6] + S_lanes[7])))
                Q[vi] = Q_lanes[0] + Q_lanes[1] + (Q_lanes[2] + Q_lanes[3]) + (Q_lanes[4] + Q_lanes[5] + (Q_lanes[6] + Q_lanes[7])) + Q[vi]

    @T.prim_func(s_tir=True)
    def by_name(A: T.Buffer((8, 96), "float32"), S: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            with T.sblock("S"):
                vi = T.axis.spatial(8, i)
                S_lanes = T.sblock_alloc_buffer((16,))
                Q_lanes = T.sblock_alloc_buffer((16,))
                S[vi] = T.float32(0.0)
                Q[vi] = T.float32(0.0)
                for lane in T.vectorized(16):
                    S_lanes[lane] = T.float32(-0.0)
                    Q_lanes[lane] = T.float32(-0.0)
                for k_outer in range(6):
                    for lane in T.vectorized(16):
                        S_lanes[lane] = S_lanes[lane] + A[vi, k_outer * 16 + lane]
                        Q_lanes[lane] = Q_lanes[lane] + A[vi, k_outer * 16 + lane] * A[vi, k_outer * 16 + lane]
                S[vi] = S[vi] + (S_lanes[0] + S_lanes[1] + (S_lanes[2] + S_lanes[3]) + (S_lanes[4] + S_lanes[5] + (S_lanes[6] + S_lanes[7])) + (S_lanes[8] + S_lanes[9] + (S_lanes[10] + S_lanes[11]) + (S_lanes[12] + S_lanes[13] + (S_lanes[14] + S_lanes[15]))))
                Q[vi] = Q[vi] + (Q_lanes[0] + Q_lanes[1] + (Q_lanes[2] + Q_lanes[3]) + (Q_lanes[4] + Q_lanes[5] + (Q_lanes[6] + Q_lanes[7])) + (Q_lanes[8] + Q_lanes[9] + (Q_lanes[10] + Q_lanes[11]) + (Q_lanes[12] + Q_lanes[13] + (Q_lanes[14] + Q_lanes[15]))))

    @T.prim_func(s_tir=True)
    def swapped(A: T.Buffer((8, 96), "float32"), S: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                    Q[vi] = T.float32(1.0)
                s: T.let[T.float32] = S[vi] + A[vi, vk]
                q: T.let[T.float32] = Q[vi] + A[vi, vk]
                S[vi] = q
                Q[vi] = s
