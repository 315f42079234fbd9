# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def two(A: T.Buffer((60, 70), "float32"), B: T.Buffer((60, 70), "float32")):
        T.func_attr({"chipdock.scheduled": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i_j_fused in T.parallel(4200):
            with T.sblock("B"):
                vi = T.axis.spatial(60, i_j_fused // 70)
                vj = T.axis.spatial(70, i_j_fused % 70)
                B[vi, vj] = A[vi, vj] * T.float32(2.0) + T.float32(1.0)
