# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def casts(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int8"), U: T.Buffer((8,), "uint32"), L: T.Buffer((8,), "int64"), P: T.Buffer((8,), "bool"), n: T.int32):
        # with T.sblock("root"):
        A[0] = T.Cast("float32", n)
        A[0] = T.Cast("float32", n)
        A[0] = T.Cast("float32", n)
        B[0] = T.Cast("int8", A[0])
        B[0] = T.Cast("int8", n)
        L[0] = T.Cast("int64", n) + T.int64(3)
        P[0] = T.Cast("bool", n)
        U[0] = T.reinterpret("uint32", A[0])
        A[1] = T.reinterpret("float32", U[0] + T.uint32(1))
