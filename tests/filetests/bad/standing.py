# Names that are known, where they may not stand.

@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), n: T.int32):
    A[0] = T.bind(n + 1)
    A[1] = T.reads(A[0])
    A[2] = T.sblock("b")
    A[3] = T.serial(8)
    A[4] = T.Buffer((8,), "float32")
    A[5] = T.alloc_buffer((8,))
    A[6] = T.axis.spatial(8, n)
    A[7] = T.evaluate(n)
    A[0] = T.attr(A, "key", 1)
    A[1] = T.target("llvm")
    A[2] = T.launch_thread("threadIdx.x", 4)
    A[3] = T.env_thread("threadIdx.x") + 1
    A[4] = T.func_attr({})
    A[5] = T.let(3)
    A[6] = T.prim_func(n)
