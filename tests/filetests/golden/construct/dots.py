# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bytes(A: T.Buffer((64,), "uint8"), B: T.Buffer((64,), "int8"), C: T.Buffer((4,), "uint8"), D: T.Buffer((4,), "int8"), S: T.Buffer((53,), "int32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        S[0:16] = T.dot_add(S[T.Ramp(0, 1, 16)], A[T.Ramp(0, 1, 64)], B[T.Ramp(0, 1, 64)])
        S[16:32] = T.dot_add(T.Broadcast(7, 16), B[T.Ramp(0, 1, 64)], T.Shuffle([B[T.Ramp(0, 1, 64)]], [63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]))
        S[32:40] = T.dot_add(S[T.Ramp(0, 1, 8)], A[T.Ramp(0, 1, 32)], A[T.Ramp(32, 1, 32)])
        S[40:45] = T.dot_add(S[T.Ramp(5, 1, 5)], A[T.Ramp(0, 1, 20)], B[T.Ramp(44, 1, 20)])
        for i in range(8):
            S[45 + i] = T.dot_add(S[45 + i], A[T.Ramp(i * 4, 1, 4)], D[T.Ramp(0, 1, 4)]) + T.dot_add(i, A[T.Ramp(i * 4, 1, 4)], C[T.Ramp(0, 1, 4)])

    @T.prim_func(s_tir=True)
    def words(A: T.Buffer((32,), "int16"), B: T.Buffer((32,), "int16"), S: T.Buffer((17,), "int32")):
        # with T.sblock("root"):
        S[0:16] = T.dot_add(S[T.Ramp(0, 1, 16)], A[T.Ramp(0, 1, 32)], B[T.Ramp(0, 1, 32)])
        S[16] = T.dot_add(S[16], A[T.Ramp(0, 1, 2)], B[T.Ramp(30, 1, 2)])

    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((16,), "bfloat16"), B: T.Buffer((16,), "bfloat16"), C: T.Buffer((16,), "float16"), D: T.Buffer((16,), "float16"), S: T.Buffer((16,), "float32")):
        # with T.sblock("root"):
        for i in range(2):
            S[i * 4:i * 4 + 4] = T.dot_add(S[T.Ramp(i * 4, 1, 4)], A[T.Ramp(i * 8, 1, 8)], B[T.Ramp(i * 8, 1, 8)])
        S[8:16] = T.dot_add(S[T.Ramp(8, 1, 8)], C[T.Ramp(0, 1, 16)], D[T.Ramp(0, 1, 16)])
