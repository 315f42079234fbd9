# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def reused(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # F lies where S was: a barrier stands between. G is used while F is.
        S = T.sblock_alloc_buffer((32,), "float32", scope="shared.dyn")
        G = T.sblock_alloc_buffer((32,), "float32", scope="shared.dyn")
        F = T.sblock_alloc_buffer((16,), "float32", scope="shared.dyn")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(32, tx)
                S[vi] = A[vi]
            with T.sblock("G"):
                vi = T.axis.spatial(32, tx)
                G[vi] = S[31 - vi]
            T.tvm_storage_sync("shared")
            with T.sblock("F"):
                vi = T.axis.spatial(32, tx)
                T.where(tx < 16)
                F[vi] = G[vi + 16]
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = F[(vi + 1) % 16] + G[31 - vi]

    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # Two launches, each with memory of its own; one has two buffers, the other one.
        S = T.sblock_alloc_buffer((32,), "float32", scope="shared.dyn")
        G = T.sblock_alloc_buffer((32,), "int32", scope="shared.dyn")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(32, tx)
                S[vi] = A[vi]
            with T.sblock("G"):
                vi = T.axis.spatial(32, tx)
                G[vi] = vi * 2
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = S[31 - vi] + T.Cast("float32", G[31 - vi])
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S2"):
                vi = T.axis.spatial(32, tx)
                S[vi] = B[vi]
            with T.sblock("A"):
                vi = T.axis.spatial(32, tx)
                A[vi] = S[31 - vi]
