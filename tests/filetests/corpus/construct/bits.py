# Bitwise operators: a Python integer takes the type of the other side.

@T.prim_func(s_tir=True)
def bits(B: T.Buffer((8,), "int8"), U: T.Buffer((8,), "uint32"), P: T.Buffer((8,), "bool"), n: T.int32, m: T.int64):
    B[0] = B[1] & 3
    B[0] = B[1] | B[2] ^ 5
    B[0] = B[1] << 2
    B[0] = B[1] >> B[2]
    B[0] = ~B[1]
    U[0] = U[1] << 3 & 255
    U[0] = (U[1] | U[2]) & (U[3] ^ U[4])
    U[0] = n & m
    U[0] = T.shift_right(n, 2)
    U[0] = T.bitwise_and(n, 7)
    U[0] = T.bitwise_or(T.bitwise_xor(n, 7), T.bitwise_not(n))
    U[0] = T.popcount(U[1]) + T.clz(n)
    P[0] = P[1] & P[2]
