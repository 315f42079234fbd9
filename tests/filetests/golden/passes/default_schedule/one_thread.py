# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer(("n", "k"), "float32"), B: T.Buffer((k, "m"), "float32"), C: T.Buffer((n, m), "float32")):
        n = T.int32()
        k = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        with T.attr({"device_scope": 0}):
            for i, j, l in T.grid(n, m, k):
                with T.sblock("C"):
                    vi, vj, vl = T.axis.remap("SSR", [i, j, l])
                    with T.init():
                        C[vi, vj] = T.float32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]

    @T.prim_func(s_tir=True)
    def marked(A: T.Buffer((64, 4), "float32"), B: T.Buffer((64, 4), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((64, 4), scope="npu.scratch")
        with T.attr({"device_scope": 0}):
            for i in T.parallel(64):
                for j in T.vectorized(4):
                    with T.sblock("S"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        S[vi, vj] = A[vi, vj] + T.float32(1.0)
            for i in T.parallel(64):
                for j in T.unroll(4):
                    with T.sblock("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = S[63 - vi, vj]

    @T.prim_func
    def between(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        small = T.alloc_buffer((16,))
        large = T.alloc_buffer((2048,))
        kept = T.alloc_buffer((16,))
        with T.attr({"device_scope": 0}):
            for i in range(16):
                small[i] = A[i]
                large[i] = A[63 - i]
                kept[i] = A[i + 16]
        assert n > 0, ("RuntimeError", ["ValueError: n"])
        with T.attr({"device_scope": 0}):
            for i in range(16):
                A[i] = small[15 - i] + large[i] + kept[i]

    @T.prim_func
    def called(A: T.handle("float32", "global"), i: T.int32) -> T.float32:
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((64,), data=A)
        own = T.alloc_buffer((1,), scope="local")
        own[0] = A_1[i]
        return own[0] * T.float32(2.0)

    @T.prim_func
    def calls(A: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        with T.attr({"device_scope": 0}):
            for i in range(64):
                A[i] = Module.called(A.data, i)
