# target: device without warps
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(P: T.Buffer(("n", 3, 18, 18), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), O: T.Buffer((n, 8, 16, 16), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for b, f, h, w, c, kh, kw in T.grid(n, 8, 16, 16, 3, 3, 3):
            with T.sblock("O"):
                vb, vf, vh, vw, vc, vkh, vkw = T.axis.remap("SSSSRRR", [b, f, h, w, c, kh, kw])
                with T.init():
                    O[vb, vf, vh, vw] = T.float32(0.0)
                O[vb, vf, vh, vw] = O[vb, vf, vh, vw] + P[vb, vc, vh + vkh, vw + vkw] * W[vf, vc, vkh, vkw]

    @T.prim_func(s_tir=True)
    def edges(X: T.Buffer(("n", 4, 5), "int8"), Y: T.Buffer(("m", 4, 5), "int8"), C: T.Buffer((n, m), "int32"), D: T.Buffer((m,), "int32")):
        n, m = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j, k, l in T.grid(n, m, 4, 5):
            with T.sblock("C"):
                vi, vj, vk, vl = T.axis.remap("SSRR", [i, j, k, l])
                with T.init():
                    C[vi, vj] = D[vj]
                C[vi, vj] = T.max(C[vi, vj], T.Cast("int32", X[vi, vk, vl]) - T.Cast("int32", Y[vj, vk, vl]))
