# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(A: T.Buffer((1, 3, 16, 16), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), O: T.Buffer((1, 8, 16, 16), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        P = T.alloc_buffer((1, 3, 18, 18))
        for n, c, h, w in T.grid(1, 3, 18, 18):
            with T.sblock("P"):
                vn, vc, vh, vw = T.axis.remap("SSSS", [n, c, h, w])
                T.reads(A[vn, vc, vh - 1, vw - 1])
                T.writes(P[vn, vc, vh, vw])
                P[vn, vc, vh, vw] = T.if_then_else(vh >= 1 and vh < 17 and vw >= 1 and vw < 17, A[vn, vc, vh - 1, vw - 1], T.float32(0.0))
        for n, f, h, w, c, kh, kw in T.grid(1, 8, 16, 16, 3, 3, 3):
            with T.sblock("O"):
                vn, vf, vh, vw, vc, vkh, vkw = T.axis.remap("SSSSRRR", [n, f, h, w, c, kh, kw])
                T.reads(P[vn, vc, vh + vkh, vw + vkw], W[vf, vc, vkh, vkw])
                T.writes(O[vn, vf, vh, vw])
                with T.init():
                    O[vn, vf, vh, vw] = T.float32(0.0)
                O[vn, vf, vh, vw] = O[vn, vf, vh, vw] + P[vn, vc, vh + vkh, vw + vkw] * W[vf, vc, vkh, vkw]
