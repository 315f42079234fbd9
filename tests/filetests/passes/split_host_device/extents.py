# Extents of one axis in two types are one extent: as TVM prints them after its dlight rules.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def typed(n: T.int32, C: T.Buffer((n,), "float32"), A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        S = T.sblock_alloc_buffer((64,), scope="shared")
        for bx in T.thread_binding(n, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("S"):
                    v0 = T.axis.spatial(64, tx)
                    S[v0] = A[v0]
            for tx in T.thread_binding(T.int64(64), thread="threadIdx.x"):
                with T.sblock("B"):
                    v0 = T.axis.spatial(T.int64(64), tx)
                    T.where(bx == 0)
                    B[v0] = S[T.int64(63) - v0]
        for bx in T.thread_binding(n, thread="blockIdx.x"):
            for again in T.thread_binding(T.Cast("int64", n), thread="blockIdx.x"):
                with T.sblock("C"):
                    v0 = T.axis.spatial(n, bx)
                    C[v0] = T.float32(2)
