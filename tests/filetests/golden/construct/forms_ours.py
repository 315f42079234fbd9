# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def returned(n: T.int32) -> T.int32:
        if n > 3:
            return n + 1
        return n

    @T.prim_func
    def noted(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), n: T.int32):
        with T.attr({"target": 0}):
            B[0] = A[0]
        with T.attr({"key": 1}):
            B[1] = A[1]
        with T.attr({"key": n}):
            B[2] = A[2]
        with T.attr({"key": "value"}):
            B[3] = T.fmod(A[3], A[4])
            B[4] = T.fmod(A[3], T.float32(2.0))
