@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((8,), "float32"), n: T.int32):
        T.where(n < 3)
        with T.init():
            A[0] = 1.0
        v = T.axis.spatial(8, n)
        for i in range(8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i])
                vk = T.axis.remap("Q", [i])
                vl = T.axis.remap("S", [n])
                T.reads(A[0])
                T.reads(A[1])
                T.writes(n)
                with T.init():
                    A[0] = 1.0
                with T.init():
                    A[0] = 2.0
        with T.sblok("C"):
            A[0] = 1.0
        with open("file") as file:
            A[0] = 1.0

    @T.prim_func
    def g(A: T.Buffer((8,), "float32")):
        with T.sblock("B"):
            A[0] = 1.0
        S = T.sblock_alloc_buffer((4,))
