# Calls that the reader takes, and validation does not.

@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[0] = T.call_extern("float32", "f", A[0]) + T.call_extern("float32", "g", A[0])
    A[1] = T.call_extern("float32", "f", A[0]) + A[2]
