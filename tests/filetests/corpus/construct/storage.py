# Types that only memory has: packed integers and floats of 8 bits.

@T.prim_func(s_tir=True)
def unpack(W: T.Buffer((6, 21), "int4"), scale: T.Buffer((6,), "float32"), B: T.Buffer((6, 21), "float32")):
    for i, j in T.grid(6, 21):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast("float32", W[vi, vj]) * scale[vi]

@T.prim_func(s_tir=True)
def quantise(A: T.Buffer((37,), "float32"), Q: T.Buffer((37,), "int4"), U: T.Buffer((40,), "uint4")):
    for i in range(37):
        with T.sblock("Q"):
            v = T.axis.spatial(37, i)
            Q[v] = T.Cast("int4", T.round(A[v]))
    for i, j in T.grid(20, 2):
        U[i * 2 + j] = T.if_then_else(i < 18, T.Cast("uint4", A[i * 2 + j]), T.IntImm("uint4", 15))

@T.prim_func(s_tir=True)
def float8(A: T.Buffer((48,), "float32"), B: T.Buffer((48,), "float8_e4m3fn"), C: T.Buffer((48,), "float8_e5m2"), D: T.Buffer((48,), "float32")):
    for i in range(48):
        with T.sblock("B"):
            v = T.axis.spatial(48, i)
            B[v] = T.Cast("float8_e4m3fn", A[v])
    for i in range(12):
        for j in T.vectorized(4):
            C[i * 4 + j] = A[i * 4 + j].astype("float8_e5m2")
    B[47] = T.float8_e4m3fn(-1.5)
    for i in range(48):
        with T.sblock("D"):
            v = T.axis.spatial(48, i)
            D[v] = T.Cast("float32", B[v]) + T.Cast("float32", C[v])

@T.prim_func(s_tir=True)
def masked(M: T.Buffer((50,), "uint1"), S: T.Buffer((50,), "int1"), A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")):
    near = T.alloc_buffer((50,), "int4")
    for i in range(50):
        near[i] = T.Cast("int4", S[i])
    for i in range(50):
        B[i] = T.Select(T.Cast("bool", M[i]), A[i], T.Cast("float32", near[i]))
