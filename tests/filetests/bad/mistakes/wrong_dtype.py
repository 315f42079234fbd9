@T.prim_func(s_tir=True)
def f(A: T.Buffer((16,), "float"), B: T.Buffer((16,), "fp16"), C: T.Buffer((4,), "int"), n: T.int23):
    D = T.alloc_buffer((4,), "half")
    E = T.alloc_buffer((4,), "float8_e4m3fn")
    F = T.alloc_buffer((4,), "int4")
    G = T.alloc_buffer((4,), T.float)
    H = T.alloc_buffer((4,), 32)
    x: T.let[T.double] = 1.0
