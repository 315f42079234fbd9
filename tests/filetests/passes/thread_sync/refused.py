# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def uneven(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.sblock_alloc_buffer((32,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(32, tx)
                S[vi] = A[vi]
            for k in range(tx + 1):
                with T.sblock("step"):
                    vi = T.axis.spatial(32, tx)
                    vk = T.axis.scan(33, k)
                    S[vi] = S[(vi + vk) % 32]
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = S[vi]
