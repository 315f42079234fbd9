# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "int32"), U: T.Buffer((8,), "uint8"), L: T.Buffer((8,), "int64")):
        A[0] = T.popcount(A[1])
        U[0] = T.popcount(U[1])
        A[2] = T.clz(L[0])
