# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kinds(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), n: T.int32):
        # Opaque and ordered axes, a predicate, a value that is a sum, a loop with a first value and a step.
        for i, j in T.grid(8, 4):
            with T.sblock("B"):
                vi = T.axis.opaque(8, i)
                vj = T.axis.scan(8, j + 2)
                T.where(i + j < n)
                B[vi, vj] = A[vi, vj]
        for i in T.serial(1, 7, step=2):
            with T.sblock("C"):
                vi = T.axis.spatial(8, i)
                B[vi, 0] = T.float32(1)

    @T.prim_func(s_tir=True)
    def nested(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
        # A block within one: its buffer, its init, an annotation with the axes' values.
        for i in range(8):
            with T.sblock("row"):
                vi = T.axis.spatial(8, i)
                T.sblock_attr({"note": 3})
                S = T.sblock_alloc_buffer((1,))
                for k in range(8):
                    with T.sblock("S"):
                        vk = T.axis.reduce(8, k)
                        with T.init():
                            S[0] = T.float32(0)
                        S[0] = S[0] + A[vi, vk]
                B[vi] = S[0]
