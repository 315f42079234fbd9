"""Kernels of the tests here."""

ADD_BIAS = """
@T.prim_func(s_tir=True)
def add_bias(A: T.Buffer(("n", "m"), "float32"), Bias: T.Buffer((m,), "float32"), C: T.Buffer((n, m), "float32")):
    n, m = T.int32(), T.int32()
    for i, j in T.grid(n, m):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2) + Bias[vj]
"""

DOUBLE = """
@T.prim_func(s_tir=True)
def double(A: T.Buffer(("n",), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] * T.float32(2)
"""

#: Two inputs and two results.
SUM_AND_DIFFERENCE = """
@T.prim_func(s_tir=True)
def both(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), S: T.Buffer((n,), "float32"), D: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("S"):
            vi = T.axis.spatial(n, i)
            S[vi] = A[vi] + B[vi]
    for i in range(n):
        with T.sblock("D"):
            vi = T.axis.spatial(n, i)
            D[vi] = A[vi] - B[vi]
"""

#: Writes to its input too.
IN_PLACE = """
@T.prim_func(s_tir=True)
def in_place(A: T.Buffer(("n",), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = A[vi] + T.float32(1)
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi]
"""
