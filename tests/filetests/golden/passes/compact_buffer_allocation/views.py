# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def tiles(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((4, 4), scope="shared")
        D = T.sblock_alloc_buffer((64, 64), scope="shared")
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            for i_0 in range(16):
                for i_1 in T.thread_binding(4, thread="threadIdx.y"):
                    for j in T.thread_binding(4, thread="threadIdx.x"):
                        with T.sblock("S"):
                            v0 = T.axis.spatial(64, i_0 * 4 + i_1)
                            v1 = T.axis.spatial(64, bx * 4 + j)
                            S[v0 - i_0 * 4, v1 - bx * 4] = A[v0, v1]
                            D[v0, v1] = A[v0, v1]
                with T.sblock("tile"):
                    v0, v1 = T.axis.remap("SS", [i_0, bx])
                    T.reads(S[0:4, 0:4], D[v0 * 4:v0 * 4 + 4, v1 * 4:v1 * 4 + 4])
                    T.writes(B[v0 * 4:v0 * 4 + 4, v1 * 4:v1 * 4 + 4])
                    s0 = T.int32()
                    S_1 = T.match_buffer(S[v0 * 4 - i_0 * 4:v0 * 4 - i_0 * 4 + 4, v1 * 4 - bx * 4:v1 * 4 - bx * 4 + 4], (4, 4), strides=(s0, 1), scope="shared", offset_factor=1)
                    D_1 = T.match_buffer(D[v0 * 4:v0 * 4 + 4, v1 * 4:v1 * 4 + 4], (4, 4), strides=(64, 1), scope="shared", offset_factor=1)
                    for i in T.thread_binding(4, thread="threadIdx.y"):
                        for j in T.thread_binding(4, thread="threadIdx.x"):
                            B[v0 * 4 + i, v1 * 4 + j] = S_1[j, i] + D_1[i, j]
