# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def overlapping(A: T.Buffer((8, 96), "float32"), S: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]

    @T.prim_func(s_tir=True)
    def others(A: T.Buffer((96, 96), "float32"), N: T.Buffer((96, 96), "int32"), S: T.Buffer((96,), "float32"), M: T.Buffer((96,), "int32"), h: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i, k in T.grid(96, 96):
            with T.sblock("columns"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vk, vi] * A[vi, vk * 2 % 96]
        for i, k in T.grid(96, 96):
            with T.sblock("function"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + T.Cast("float32", T.fmod(T.Cast("float64", A[vi, vk]), T.float64(2.0)))
        for i, k in T.grid(96, 96):
            with T.sblock("integers"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = 0
                M[vi] = M[vi] + N[vi, vk]
        for i, k in T.grid(96, 24):
            with T.sblock("few"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
        for i, ko, ki in T.grid(96, 2, 48):
            with T.sblock("part"):
                vi = T.axis.spatial(96, i)
                vk = T.axis.reduce(96, ko * 48 + ki)
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
