# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n, m), "float32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in T.parallel(n, annotations={"chipdock.grain": "auto"}):
            with T.sblock("B"):
                vi = T.axis.spatial(n, i)
                T.where(m > 0)
                B_lanes = T.sblock_alloc_buffer((16,))
                B[vi] = T.float32(0.0)
                if m >= 16:
                    for lane in T.vectorized(16):
                        B_lanes[lane] = T.float32(-0.0)
                    for k_outer in range(m // 16):
                        for lane in T.vectorized(16):
                            B_lanes[lane] = B_lanes[lane] + A[vi, k_outer * 16 + lane] * C[vi, k_outer * 16 + lane]
                    B[vi] = B[vi] + (B_lanes[0] + B_lanes[1] + (B_lanes[2] + B_lanes[3]) + (B_lanes[4] + B_lanes[5] + (B_lanes[6] + B_lanes[7])) + (B_lanes[8] + B_lanes[9] + (B_lanes[10] + B_lanes[11]) + (B_lanes[12] + B_lanes[13] + (B_lanes[14] + B_lanes[15]))))
                for k_rest in range(m % 16):
                    B[vi] = B[vi] + A[vi, m // 16 * 16 + k_rest] * C[vi, m // 16 * 16 + k_rest]
