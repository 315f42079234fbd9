# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kinds(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i, j in T.grid(8, 4):
            if i + j < n:
                B[i, j + 2] = A[i, j + 2]
        for i in T.serial(1, 7, step=2):
            B[i, 0] = T.float32(1.0)

    @T.prim_func
    def nested(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i in range(8):
            with T.attr({"note": T.int64(3)}):
                S = T.alloc_buffer((1,))
                S[0] = T.float32(0.0)
                for k in range(8):
                    S[0] = S[0] + A[i, k]
                B[i] = S[0]
