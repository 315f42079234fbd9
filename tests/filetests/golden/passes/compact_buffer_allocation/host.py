# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer((40, 50), "float32"), B: T.Buffer((40, 50), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        if T.reinterpret("uint64", A.data) + T.uint64(4) * T.Cast("uint64", 40) * T.Cast("uint64", 50) <= T.reinterpret("uint64", B.data) or T.reinterpret("uint64", B.data) + T.uint64(4) * T.Cast("uint64", 40) * T.Cast("uint64", 50) <= T.reinterpret("uint64", A.data):
            for i, j in T.grid(40, 50):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, 49 - vj] * T.float32(2.0)
        else:
            S = T.alloc_buffer((1, 50))
            for i in range(40):
                for j in range(50):
                    with T.sblock("S"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        S[vi - i, vj] = A[vi, vj] * T.float32(2.0)
                for j in range(50):
                    with T.sblock("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = S[vi - i, 49 - vj]

    @T.prim_func(s_tir=True)
    def at_once(n: T.int32, A: T.Buffer((n, 50), "float32"), B: T.Buffer((n, 50), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        if T.reinterpret("uint64", A.data) + T.uint64(4) * T.Cast("uint64", n) * T.Cast("uint64", 50) <= T.reinterpret("uint64", B.data) or T.reinterpret("uint64", B.data) + T.uint64(4) * T.Cast("uint64", n) * T.Cast("uint64", 50) <= T.reinterpret("uint64", A.data):
            for i in T.parallel(n):
                for j in range(50):
                    with T.sblock("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = A[vi, 49 - vj] * T.float32(2.0)
        else:
            for i in T.parallel(n):
                S = T.alloc_buffer((1, 50))
                for j in range(50):
                    with T.sblock("S"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        S[vi - i, vj] = A[vi, vj] * T.float32(2.0)
                for j in range(50):
                    with T.sblock("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = S[vi - i, 49 - vj]

    @T.prim_func(s_tir=True)
    def windows(A: T.Buffer((42, 8), "float32"), B: T.Buffer((40, 8), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((42, 8))
        for i in range(40):
            for s, j in T.grid(3, 8):
                with T.sblock("S"):
                    vi = T.axis.spatial(42, i + s)
                    vj = T.axis.spatial(8, j)
                    S[vi, vj] = A[vi, vj] * T.float32(2.0)
            for j in range(8):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = S[vi, vj] + S[vi + 1, vj] + S[vi + 2, vj]

    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer((40, 50), "float32"), B: T.Buffer((50,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((50,))
        for i, j in T.grid(40, 50):
            with T.sblock("S"):
                vi, vj = T.axis.remap("RS", [i, j])
                with T.init():
                    S[vj] = T.float32(0.0)
                S[vj] = S[vj] + A[vi, vj]
        for j in range(50):
            with T.sblock("B"):
                vj = T.axis.spatial(50, j)
                B[vj] = S[vj]

    @T.prim_func(s_tir=True)
    def nested(A: T.Buffer((6, 7, 8), "float32"), B: T.Buffer((6, 7, 8), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((8,))
        R = T.sblock_alloc_buffer((1, 1, 1))
        for i, j in T.grid(6, 7):
            for k in range(8):
                with T.sblock("S"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    S[vi * 56 + vj * 8 + vk - i * 56 - j * 8] = A[vi, vj, vk]
            for k in range(8):
                with T.sblock("R"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    R[vi - i, vj - j, vk - k] = S[vi * 56 + vj * 8 - vk - i * 56 - j * 8 + 7]
                with T.sblock("B"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    B[vi, vj, vk] = R[vi - i, vj - j, vk - k] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def of_any_size(A: T.Buffer(("m",), "float32"), B: T.Buffer((m,), "float32")):
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        for i in range(4):
            S = T.alloc_buffer(((m - 1) // 10 + 1,), scope="local")
            for j in range((m - 1) // 10 + 1):
                S[j] = A[j]
            for j in range((m - 1) // 10 + 1):
                B[j] = S[j]
