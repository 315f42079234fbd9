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
