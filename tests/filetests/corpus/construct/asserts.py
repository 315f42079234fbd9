# Assertions and notes on statements.

@T.prim_func(s_tir=True)
def asserts(A: T.Buffer((64,), "float32"), n: T.int32):
    T.func_attr({"tirx.noalias": True, "number": 3, "pi": 3.5, "nothing": None, "names": ["a", "b"], "inner": {"k": 1}, "global_symbol": "asserts"})
    assert n > 3, "n must be large"
    assert n < 60, ("ValueError", ["n is ", "too large"])
    with T.attr(A, "storage_alignment", 64):
        A[0] = 1.0
    with T.attr({"pragma_one": 1, "pragma_two": "s"}):
        A[1] = 1.0
    with T.attr(n, "pragma_n", "x"):
        A[2] = 1.0
    for i in range(8):
        T.attr({"pragma_rest": 1})
        A[3 + i] = 1.0
        A[11 + i] = 1.0
