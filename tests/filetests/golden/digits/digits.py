# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def normalize(X: T.Buffer(("n", 8, 8), "uint8"), Y: T.Buffer((n, 8, 8), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for b, h, w in T.grid(n, 8, 8):
            with T.sblock("Y"):
                vb, vh, vw = T.axis.remap("SSS", [b, h, w])
                T.reads(X[vb, vh, vw])
                T.writes(Y[vb, vh, vw])
                Y[vb, vh, vw] = T.Cast("float32", X[vb, vh, vw]) / T.float32(16.0)

    @T.prim_func(s_tir=True)
    def conv2d_relu(X: T.Buffer(("n", 8, 8), "float32"), W: T.Buffer((16, 3, 3), "float32"), B: T.Buffer((16,), "float32"), Y: T.Buffer((n, 16, 8, 8), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((n, 10, 10))
        S = T.sblock_alloc_buffer((n, 16, 8, 8))
        for b, h, w in T.grid(n, 10, 10):
            with T.sblock("P"):
                vb, vh, vw = T.axis.remap("SSS", [b, h, w])
                T.reads(X[vb, vh - 1, vw - 1])
                T.writes(P[vb, vh, vw])
                P[vb, vh, vw] = T.if_then_else(vh >= 1 and vh < 9 and vw >= 1 and vw < 9, X[vb, vh - 1, vw - 1], T.float32(0.0))
        for b, c, h, w, kh, kw in T.grid(n, 16, 8, 8, 3, 3):
            with T.sblock("S"):
                vb, vc, vh, vw, vkh, vkw = T.axis.remap("SSSSRR", [b, c, h, w, kh, kw])
                T.reads(P[vb, vh + vkh, vw + vkw], W[vc, vkh, vkw])
                T.writes(S[vb, vc, vh, vw])
                with T.init():
                    S[vb, vc, vh, vw] = T.float32(0.0)
                S[vb, vc, vh, vw] = S[vb, vc, vh, vw] + P[vb, vh + vkh, vw + vkw] * W[vc, vkh, vkw]
        for b, c, h, w in T.grid(n, 16, 8, 8):
            with T.sblock("Y"):
                vb, vc, vh, vw = T.axis.remap("SSSS", [b, c, h, w])
                T.reads(S[vb, vc, vh, vw], B[vc])
                T.writes(Y[vb, vc, vh, vw])
                Y[vb, vc, vh, vw] = T.max(S[vb, vc, vh, vw] + B[vc], T.float32(0.0))

    @T.prim_func(s_tir=True)
    def max_pool(X: T.Buffer(("n", 16, 8, 8), "float32"), Y: T.Buffer((n, 256), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for b, c, h, w, kh, kw in T.grid(n, 16, 4, 4, 2, 2):
            with T.sblock("Y"):
                vb, vc, vh, vw, vkh, vkw = T.axis.remap("SSSSRR", [b, c, h, w, kh, kw])
                T.reads(X[vb, vc, vh * 2 + vkh, vw * 2 + vkw])
                T.writes(Y[vb, vc * 16 + vh * 4 + vw])
                with T.init():
                    Y[vb, vc * 16 + vh * 4 + vw] = T.float32(-3.402823466e38)
                Y[vb, vc * 16 + vh * 4 + vw] = T.max(Y[vb, vc * 16 + vh * 4 + vw], X[vb, vc, vh * 2 + vkh, vw * 2 + vkw])

    @T.prim_func(s_tir=True)
    def dense_relu(X: T.Buffer(("n", 256), "float32"), W: T.Buffer((256, 64), "float32"), B: T.Buffer((64,), "float32"), Y: T.Buffer((n, 64), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((n, 64))
        for i, j, k in T.grid(n, 64, 256):
            with T.sblock("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vk, vj])
                T.writes(S[vi, vj])
                with T.init():
                    S[vi, vj] = T.float32(0.0)
                S[vi, vj] = S[vi, vj] + X[vi, vk] * W[vk, vj]
        for i, j in T.grid(n, 64):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(S[vi, vj], B[vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.max(S[vi, vj] + B[vj], T.float32(0.0))

    @T.prim_func(s_tir=True)
    def dense(X: T.Buffer(("n", 64), "float32"), W: T.Buffer((64, 10), "float32"), B: T.Buffer((10,), "float32"), Y: T.Buffer((n, 10), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i, j, k in T.grid(n, 10, 64):
            with T.sblock("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(B[vj], X[vi, vk], W[vk, vj])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = B[vj]
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]

    @T.prim_func(s_tir=True)
    def softmax(X: T.Buffer(("n", 10), "float32"), Y: T.Buffer((n, 10), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        M = T.sblock_alloc_buffer((n,))
        E = T.sblock_alloc_buffer((n, 10))
        S = T.sblock_alloc_buffer((n,))
        for i, k in T.grid(n, 10):
            with T.sblock("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(X[vi, vk])
                T.writes(M[vi])
                with T.init():
                    M[vi] = T.float32(-3.402823466e38)
                M[vi] = T.max(M[vi], X[vi, vk])
        for i, j in T.grid(n, 10):
            with T.sblock("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj], M[vi])
                T.writes(E[vi, vj])
                E[vi, vj] = T.exp(X[vi, vj] - M[vi])
        for i, k in T.grid(n, 10):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(E[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(n, 10):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(E[vi, vj], S[vi])
                T.writes(Y[vi, vj])
                Y[vi, vj] = E[vi, vj] / S[vi]

    @T.prim_func(s_tir=True)
    def argmax(X: T.Buffer(("n", 10), "float32"), Y: T.Buffer((n,), "int32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("Y"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi, 0:10])
                T.writes(Y[vi])
                best = T.sblock_alloc_buffer((1,), "int32", scope="local")
                best[0] = 0
                for k in range(1, 10):
                    if X[vi, k] > X[vi, best[0]]:
                        best[0] = k
                Y[vi] = best[0]
