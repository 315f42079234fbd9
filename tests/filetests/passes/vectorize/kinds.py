# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        # A stride, a gather, a choice by lane, a cast, a function.
        for v in T.vectorized(8):
            B[v] = A[v * 2] + A[Idx[v]]
        for v in T.vectorized(8):
            B[v] = T.Select(Idx[v] > 3, T.exp(A[v]), T.Cast("float32", Idx[v] * 2 + v))
