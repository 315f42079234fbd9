# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer((1024, 1024), "float32"), B: T.Buffer((1024, 1024), "float32"), C: T.Buffer((1024, 1024), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((32, 1024, 32))
        for jo in T.parallel(32):
            for k, ju in T.grid(1024, 2):
                for jv in T.vectorized(16):
                    with T.sblock("P"):
                        vjo, vk = T.axis.remap("SS", [jo, k])
                        vji = T.axis.spatial(32, ju * 16 + jv)
                        T.reads(B[vk, vjo * 32 + vji])
                        T.writes(P[vjo, vk, vji])
                        P[vjo, vk, vji] = B[vk, vjo * 32 + vji]
        for ib in T.parallel(8):
            for ko, jo, it in T.grid(4, 32, 16):
                with T.sblock("tile"):
                    vi = T.axis.spatial(128, ib * 16 + it)
                    vj, vko = T.axis.remap("SR", [jo, ko])
                    T.reads(A[vi * 8:vi * 8 + 8, vko * 256:vko * 256 + 256], P[vj, vko * 256:vko * 256 + 256, 0:32])
                    T.writes(C[vi * 8:vi * 8 + 8, vj * 32:vj * 32 + 32])
                    acc = T.sblock_alloc_buffer((8, 32), scope="local")
                    for r in T.unroll(8):
                        for cu in T.unroll(2):
                            for cv in T.vectorized(16):
                                with T.sblock("acc_init"):
                                    vr = T.axis.spatial(8, r)
                                    vc = T.axis.spatial(32, cu * 16 + cv)
                                    T.reads()
                                    T.writes(acc[vr, vc])
                                    acc[vr, vc] = T.float32(0.0)
                    for ki in range(256):
                        for r in T.unroll(8):
                            for cu in T.unroll(2):
                                for cv in T.vectorized(16):
                                    with T.sblock("acc"):
                                        vr = T.axis.spatial(8, r)
                                        vc = T.axis.spatial(32, cu * 16 + cv)
                                        vk = T.axis.reduce(256, ki)
                                        T.reads(acc[vr, vc], A[vi * 8 + vr, vko * 256 + vk], P[vj, vko * 256 + vk, vc])
                                        T.writes(acc[vr, vc])
                                        acc[vr, vc] = acc[vr, vc] + A[vi * 8 + vr, vko * 256 + vk] * P[vj, vko * 256 + vk, vc]
                    for r in T.unroll(8):
                        for cu in T.unroll(2):
                            for cv in T.vectorized(16):
                                with T.sblock("C"):
                                    vr = T.axis.spatial(8, r)
                                    vc = T.axis.spatial(32, cu * 16 + cv)
                                    vk = T.axis.reduce(4, vko)
                                    T.reads(acc[vr, vc])
                                    T.writes(C[vi * 8 + vr, vj * 32 + vc])
                                    with T.init():
                                        C[vi * 8 + vr, vj * 32 + vc] = T.float32(0.0)
                                    C[vi * 8 + vr, vj * 32 + vc] = C[vi * 8 + vr, vj * 32 + vc] + acc[vr, vc]
