# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def double(A: T.Buffer((250,), "float32"), B: T.Buffer((250,), "float32")):
        T.func_attr({"chipdock.scheduled": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i_0 in range(32):
            for i_1 in T.vectorized(8):
                with T.sblock("B"):
                    vi = T.axis.spatial(250, i_0 * 8 + i_1)
                    T.where(i_0 * 8 + i_1 < 250)
                    B[vi] = A[vi] * T.float32(2.0)

    @T.prim_func(s_tir=True)
    def beside(A: T.Buffer((250,), "float32"), B: T.Buffer((250,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in range(250):
            with T.sblock("B"):
                vi = T.axis.spatial(250, i)
                B[vi] = A[vi] * T.float32(2.0)
