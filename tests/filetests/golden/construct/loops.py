# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def loops(A: T.Buffer((64,), "float32"), L: T.Buffer((64,), "int64"), n: T.int32, m: T.int64):
        # with T.sblock("root"):
        for i in range(4):
            A[i] = T.float32(1.0)
        for i in range(2, 10):
            A[i] = T.float32(1.0)
        for i in range(n, n + 8):
            A[i] = T.float32(1.0)
        for i in T.serial(0, 64, step=2):
            A[i] = T.float32(1.0)
        for i in T.serial(0, 64, step=4, annotations={"pragma_x": 1}):
            A[i] = T.float32(1.0)
        for i in T.parallel(64):
            A[i] = T.float32(1.0)
        for i in T.vectorized(8):
            A[i] = T.float32(1.0)
        for i in T.unroll(4):
            A[i] = T.float32(1.0)
        for i in T.serial(4, annotations={"a": 1, "b": [1, 2], "c": {"d": "e"}, "f": 1.5, "g": True, "h": None}):
            A[i] = T.float32(1.0)
        for i in T.serial(4, annotations={"pragma_unroll": True}):
            A[i] = T.float32(1.0)
        for i, j in T.grid(8, n):
            A[i * 8 + j] = T.float32(1.0)
        for i in range(m):
            L[i] = i
        for i in range(T.int64(8)):
            L[i] = i + T.int64(1)
        for i in range(8):
            for j in range(i, i + (8 - i)):
                A[i * 8 + j] = T.float32(1.0)
