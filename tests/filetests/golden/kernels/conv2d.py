# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(A: T.Buffer(("n", 3, 32, 32), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), O: T.Buffer((n, 8, 32, 32), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((n, 3, 34, 34))
        for b, c, h, w in T.grid(n, 3, 34, 34):
            with T.sblock("P"):
                vb, vc, vh, vw = T.axis.remap("SSSS", [b, c, h, w])
                T.reads(A[vb, vc, vh - 1, vw - 1])
                T.writes(P[vb, vc, vh, vw])
                P[vb, vc, vh, vw] = T.if_then_else(vh >= 1 and vh < 33 and vw >= 1 and vw < 33, A[vb, vc, vh - 1, vw - 1], T.float32(0.0))
        for b, f, h, w, c, kh, kw in T.grid(n, 8, 32, 32, 3, 3, 3):
            with T.sblock("O"):
                vb, vf, vh, vw, vc, vkh, vkw = T.axis.remap("SSSSRRR", [b, f, h, w, c, kh, kw])
                T.reads(P[vb, vc, vh + vkh, vw + vkw], W[vf, vc, vkh, vkw])
                T.writes(O[vb, vf, vh, vw])
                with T.init():
                    O[vb, vf, vh, vw] = T.float32(0.0)
                O[vb, vf, vh, vw] = O[vb, vf, vh, vw] + P[vb, vc, vh + vkh, vw + vkw] * W[vf, vc, vkh, vkw]
