@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    T.func_attr(["a"])
    T.func_attr({"a": [{"b": A.dtype}, A]})
    T.func_attr({1: 2})
    T.func_attr({**x})
    T.func_attr({"target": T.target({"keys": ["cpu"]})})
    with T.attr(A, "key"):
        A[0] = 1.0
    with T.attr(A[0], "key", 1):
        A[0] = 1.0
    assert A[0] > 1.0, 5
    assert A[0] > 1.0, ("ValueError", "text")
    T.func_attr({"a": 1, "b": 2, "a": 1})
    T.func_attr({"target": T.target({"kind": "c", "x": {"y": 1, "y": 2}})})
    T.func_attr({"target": T.target({"kind": "c", "x": 1.0})})
    T.func_attr({"target": T.target({"kind": "c", "x": [1e999]})})
