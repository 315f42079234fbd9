# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def three(A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float64")):
        # Elements of 1, 4 and 8 bytes; each begins at a multiple of 8.
        S = T.sblock_alloc_buffer((5,), "int8", scope="shared.dyn")
        F = T.sblock_alloc_buffer((3,), "float32", scope="shared.dyn")
        D = T.sblock_alloc_buffer((24,), "float64", scope="shared.dyn")
        for tx in T.thread_binding(24, thread="threadIdx.x"):
            with T.sblock("S"):
                T.where(tx < 5)
                vi = T.axis.spatial(24, tx)
                S[vi] = T.Cast("int8", vi)
            with T.sblock("F"):
                T.where(tx < 3)
                vi = T.axis.spatial(24, tx)
                F[vi] = A[vi]
            with T.sblock("D"):
                vi = T.axis.spatial(24, tx)
                D[vi] = T.Cast("float64", A[vi])
            with T.sblock("B"):
                vi = T.axis.spatial(24, tx)
                B[vi] = D[23 - vi] + T.Cast("float64", F[vi % 3]) + T.Cast("float64", S[vi % 5])

    @T.prim_func(s_tir=True)
    def one(A: T.Buffer((24,), "float32")):
        S = T.sblock_alloc_buffer((24,), "float32", scope="shared.dyn")
        for tx in T.thread_binding(24, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(24, tx)
                S[vi] = A[vi]
            with T.sblock("A"):
                vi = T.axis.spatial(24, tx)
                A[vi] = S[23 - vi]
