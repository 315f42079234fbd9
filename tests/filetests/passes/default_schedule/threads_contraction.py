# target: device
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
