@T.prim_func(s_tir=True)
def f(A: T.Buffer(("n +",), "float32"), B: T.Buffer(("n" "m",), "float32"), C: T.Buffer((1.5,), "float32"), D: T.Buffer((8, 8), "float32", strides=(1,)), E: T.Buffer(("\x6e",), "float32"), F: T.Buffer((q,), "float32")):
    n = T.float32()
    a = T.match_buffer(A, (8,), "float32")
