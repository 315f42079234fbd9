@T.prim_func
def unpack(W: T.Buffer((37,), "int4"), M: T.Buffer((37,), "uint1"), B: T.Buffer((37,), "float32")):
    for i in range(37):
        B[i] = T.if_then_else(T.Cast("bool", M[i]), T.Cast("float32", W[i]), T.float32(0))

@T.prim_func
def pack(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "int4")):
    for i in T.parallel(20):
        for j in range(2):
            B[i * 2 + j] = T.Cast("int4", A[i * 2 + j])

@T.prim_func
def pack_one_by_one(A: T.Buffer((40,), "int32"), B: T.Buffer((40,), "uint4")):
    for i in range(40):
        B[i] = T.Cast("uint4", A[i])
    B[0:8] = T.Cast("uint4x8", A[8:16])

@T.prim_func
def in_between(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    T_1 = T.alloc_buffer((40,), "int4")
    for i in range(40):
        T_1[i] = T.Cast("int4", A[i])
    for i in range(40):
        B[i] = T.Cast("float32", T_1[39 - i])
