# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def threads(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        for ty in T.thread_binding(2, thread="threadIdx.y"):
            for tx in T.thread_binding(512, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(1024, ty * 512 + tx)
                    B[vi] = A[vi] * T.float32(2)

    @T.prim_func(s_tir=True)
    def shared(A: T.Buffer((2048,), "float32"), B: T.Buffer((2048,), "float32")):
        S = T.sblock_alloc_buffer((2048,), scope="shared")
        for tx in T.thread_binding(256, thread="threadIdx.x"):
            for i in range(8):
                with T.sblock("S"):
                    vi = T.axis.spatial(2048, i * 256 + tx)
                    S[vi] = A[vi]
            for i in range(8):
                with T.sblock("B"):
                    vi = T.axis.spatial(2048, i * 256 + tx)
                    B[vi] = S[2047 - vi]
