# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def blocks(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64,), "float32")):
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((64,), scope="shared")
        for i, j in T.grid(64, 64):
            with T.sblock("remapped"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.reads(A[vi, vj])
                T.writes(C[vi])
                with T.init():
                    C[vi] = T.float32(0.0)
                C[vi] = C[vi] + A[vi, vj]
        for i, j in T.grid(16, 20):
            with T.sblock("where"):
                vi = T.axis.spatial(64, i * 4)
                vj = T.axis.spatial(64, j * 4 + 1)
                T.where(j * 4 + 1 < 64)
                T.reads(A[vi, vj], B[vi, 0:vj])
                T.writes(B[vi, vj])
                T.sblock_attr({"x": 1, "y": ["z", True]})
                B[vi, vj] = A[vi, vj]
        for i in range(60):
            with T.sblock("ranges"):
                vi = T.axis.spatial((2, 62), i + 2)
                T.reads()
                T.writes(C[vi])
                C[vi] = T.float32(1.0)
        for i in range(8):
            with T.sblock("outer"):
                vi = T.axis.opaque(8, i)
                T.reads(A[vi * 8:vi * 8 + 8, 0:64])
                T.writes(B[vi * 8:vi * 8 + 8, 0:64])
                local = T.sblock_alloc_buffer((8,), scope="local")
                view = T.match_buffer(A[vi * 8:vi * 8 + 8, 0:64], (8, 64), strides=(64, 1), offset_factor=1)
                for j, k in T.grid(8, 64):
                    with T.sblock("inner"):
                        vj, vk = T.axis.remap("SS", [j, k])
                        T.reads(view[vj, vk])
                        T.writes(local[vj], B[vi * 8 + vj, vk])
                        local[vj] = view[vj, vk]
                        B[vi * 8 + vj, vk] = local[vj]
        for i in range(64):
            with T.sblock("scan"):
                vi = T.axis.scan(64, i)
                T.reads(C[vi])
                T.writes(S[vi])
                S[vi] = C[vi]
        for i in range(T.int64(64)):
            with T.sblock("wide"):
                vi = T.axis.spatial(T.int64(64), i)
                T.reads(S[vi])
                T.writes(C[vi])
                C[vi] = S[vi]
