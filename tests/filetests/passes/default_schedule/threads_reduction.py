# target: device
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def columns(A: T.Buffer((16, 300), "float32"), B: T.Buffer((300,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for k, j in T.grid(16, 300):
            with T.sblock("B"):
                vk, vj = T.axis.remap("RS", [k, j])
                with T.init():
                    B[vj] = T.float32(0)
                B[vj] = B[vj] + A[vk, vj]

    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", "d"), "float32"), B: T.Buffer((n,), "float32")):
        n, d = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(n, d):
            with T.sblock("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]

    @T.prim_func(s_tir=True)
    def whole(A: T.Buffer((9, 100), "int32"), B: T.Buffer((1,), "int32")):
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(9, 100):
            with T.sblock("B"):
                vi, vk = T.axis.remap("RR", [i, k])
                with T.init():
                    B[0] = 5
                B[0] = T.max(B[0], A[vi, vk] * 3)
