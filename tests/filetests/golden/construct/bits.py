# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bits(B: T.Buffer((8,), "int8"), U: T.Buffer((8,), "uint32"), P: T.Buffer((8,), "bool"), n: T.int32, m: T.int64):
        # with T.sblock("root"):
        B[0] = B[1] & T.int8(3)
        B[0] = B[1] | B[2] ^ T.int8(5)
        B[0] = B[1] << T.int8(2)
        B[0] = B[1] >> B[2]
        B[0] = T.bitwise_not(B[1])
        U[0] = U[1] << T.uint32(3) & T.uint32(255)
        U[0] = (U[1] | U[2]) & (U[3] ^ U[4])
        U[0] = T.Cast("uint32", T.Cast("int64", n) & m)
        U[0] = T.Cast("uint32", n >> 2)
        U[0] = T.Cast("uint32", n & 7)
        U[0] = T.Cast("uint32", n ^ 7 | T.bitwise_not(n))
        U[0] = T.popcount(U[1]) + T.Cast("uint32", T.clz(n))
        P[0] = P[1] & P[2]
