# A 3 x 3 convolution, 64 to 64 channels on 56 x 56, over zero padding of one pixel through a padded copy P.
# A: images, channels, rows, columns. W: results, channels, rows, columns.

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(A: T.Buffer((1, 64, 56, 56), "float32"), W: T.Buffer((64, 64, 3, 3), "float32"), O: T.Buffer((1, 64, 56, 56), "float32")):
        T.func_attr({"tirx.noalias": True})
        P = T.sblock_alloc_buffer((1, 64, 58, 58))
        for b, c, h, w in T.grid(1, 64, 58, 58):
            with T.sblock("P"):
                vb, vc, vh, vw = T.axis.remap("SSSS", [b, c, h, w])
                T.reads(A[vb, vc, vh - 1, vw - 1])
                T.writes(P[vb, vc, vh, vw])
                P[vb, vc, vh, vw] = T.if_then_else(vh >= 1 and vh < 57 and vw >= 1 and vw < 57, A[vb, vc, vh - 1, vw - 1], T.float32(0.0))
        for b, f, h, w, c, kh, kw in T.grid(1, 64, 56, 56, 64, 3, 3):
            with T.sblock("O"):
                vb, vf, vh, vw, vc, vkh, vkw = T.axis.remap("SSSSRRR", [b, f, h, w, c, kh, kw])
                T.reads(P[vb, vc, vh + vkh, vw + vkw], W[vf, vc, vkh, vkw])
                T.writes(O[vb, vf, vh, vw])
                with T.init():
                    O[vb, vf, vh, vw] = T.float32(0.0)
                O[vb, vf, vh, vw] = O[vb, vf, vh, vw] + P[vb, vc, vh + vkh, vw + vkw] * W[vf, vc, vkh, vkw]
