# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def changes(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((16,), "int32", scope="local")
        for tx in T.thread_binding(1, thread="threadIdx.x"):
            if A[0] < 4:
                A[0] = A[0] + 8
                S[A[0]] = A[0]
                B[0] = S[A[0]]

    @T.prim_func(s_tir=True)
    def wraps(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((10,), "int32", scope="local")
        for tx in T.thread_binding(1, thread="threadIdx.x"):
            for i in range(10):
                S[T.Cast("uint8", i)] = A[i]
            for i in range(10):
                B[i] = S[T.Cast("uint8", 9 - i)]

    @T.prim_func(s_tir=True)
    def below(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((316,), "int32", scope="local")
        for tx in T.thread_binding(1, thread="threadIdx.x"):
            for i in range(64):
                if T.Cast("uint8", i) * T.uint8(5) < T.uint8(8):
                    S[i * 5] = A[i]
            for i in range(64):
                if T.Cast("uint8", i) * T.uint8(5) < T.uint8(8):
                    B[i] = S[i * 5]

    @T.prim_func(s_tir=True)
    def symbols(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((1,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((16, 32), scope="shared")
        D = T.sblock_alloc_buffer((8, 32), scope="shared")
        E = T.sblock_alloc_buffer((16, 32), scope="shared")
        F = T.sblock_alloc_buffer((1, 16), scope="shared")
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            for k in range(16):
                with T.sblock("load"):
                    vk, vx = T.axis.remap("SS", [k, tx])
                    S[vk, vx] = A[vk, vx]
                    D[vk // 2, vx] = A[vk, vx]
                    E[vk, vx] = A[vk, vx]
                    F[vk - k, vx] = A[vk, vx]
                with T.sblock("use"):
                    vk, vx = T.axis.remap("SS", [k, tx])
                    T.reads(S[vk, 0:16], D[vk // 2, 0:16], E[vk, 0:16], F[0, 0:16])
                    T.writes(B[vx], C[0])
                    s = T.int32()
                    S_1 = T.match_buffer(S[vk, 0:16], (1, 16), strides=(s, 1), scope="shared")
                    D_1 = T.match_buffer(D[vk // 2, 0:16], (1, 16), strides=(s, 1), scope="shared")
                    e = T.int32()
                    E_1 = T.match_buffer(E[vk, 0:16], (1, 16), strides=(e, 1), scope="shared")
                    f = T.int32()
                    F_1 = T.match_buffer(F[vk - k, 0:16], (1, 16), strides=(f, 1), scope="shared")
                    B[vx] = S_1[0, 15 - vx] + D_1[0, vx] + E_1[0, vx] + F_1[0, 15 - vx]
                    if vx == 0:
                        C[0] = e

    @T.prim_func(s_tir=True)
    def pointers(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((16, 16), scope="shared")
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            for k in range(16):
                with T.sblock("load"):
                    vk, vx = T.axis.remap("SS", [k, tx])
                    S[vk, vx] = A[vk, vx]
                with T.sblock("use"):
                    vk, vx = T.axis.remap("SS", [k, tx])
                    T.reads(S[vk, 0:16])
                    T.writes(B[vx])
                    S_1 = T.match_buffer(S[vk, 0:16], (1, 16), scope="shared")
                    B[vx] = S_1[0, 15 - vx]
                    if T.isnullptr(T.address_of(S_1[0, 0])):
                        B[vx] = T.float32(0.0)

    @T.prim_func(s_tir=True)
    def parted(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((8, 8), scope="shared")
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            for k in range(tx + 1):
                with T.sblock("load"):
                    vk = T.axis.spatial(8, k)
                    vx = T.axis.spatial(8, tx)
                    S[vk, vx] = A[vk, vx]
                with T.sblock("use"):
                    vk = T.axis.spatial(8, k)
                    vx = T.axis.spatial(8, tx)
                    B[vk, vx] = S[vk, vx]

    @T.prim_func(s_tir=True)
    def sizes(n: T.int32, A: T.Buffer((n, 32), "float32"), B: T.Buffer((n, 32), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((1, 32), scope="shared")
        for bx in T.thread_binding(n, thread="blockIdx.x"):
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("load"):
                    v0 = T.axis.spatial(n, n - 1 - bx)
                    v1 = T.axis.spatial(32, tx)
                    S[v0 - n + bx + 1, v1] = A[v0, v1]
                with T.sblock("use"):
                    v0 = T.axis.spatial(n, n - 1 - bx)
                    v1 = T.axis.spatial(32, tx)
                    B[v0, v1] = S[v0 - n + bx + 1, 31 - v1]
