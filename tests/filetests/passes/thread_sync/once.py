# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def reverse(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
        S = T.sblock_alloc_buffer((128,), scope="shared")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("S"):
                    vi = T.axis.spatial(256, bx * 128 + tx)
                    S[vi % 128] = A[vi]
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(256, bx * 128 + tx)
                    B[vi] = S[127 - vi % 128]

    @T.prim_func(s_tir=True)
    def own(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        # Each thread reads what it wrote itself: no barrier.
        S = T.sblock_alloc_buffer((512,), scope="shared")
        for tx in T.thread_binding(128, thread="threadIdx.x"):
            for k in range(4):
                with T.sblock("S"):
                    vi = T.axis.spatial(512, k * 128 + tx)
                    S[vi] = A[vi % 128]
            for k in range(4):
                with T.sblock("T"):
                    vi = T.axis.spatial(512, k * 128 + tx)
                    S[vi] = S[vi] + T.float32(1)
            with T.sblock("B"):
                vi = T.axis.spatial(128, tx)
                B[vi] = S[vi]

    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # Parts of one buffer, that do not overlap: one barrier.
        S = T.sblock_alloc_buffer((128,), scope="shared")
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("low"):
                vi = T.axis.spatial(64, tx)
                S[vi] = A[vi]
            with T.sblock("high"):
                vi = T.axis.spatial(64, tx)
                S[127 - vi] = A[vi]
            with T.sblock("B"):
                vi = T.axis.spatial(64, tx)
                B[vi] = S[64 + vi] + S[63 - vi]
