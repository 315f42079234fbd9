# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def shared(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        S = T.sblock_alloc_buffer((64,), scope="shared")
        R = T.sblock_alloc_buffer((1,), scope="local")
        for vx in T.thread_binding(2, thread="vthread.x"):
            for vy in T.thread_binding(2, thread="vthread.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("S"):
                        vi = T.axis.spatial(64, vx * 32 + vy * 16 + tx)
                        S[vi] = A[vi]
                    for k in range(3):
                        with T.sblock("R"):
                            vi = T.axis.spatial(64, vx * 32 + vy * 16 + tx)
                            vk = T.axis.scan(3, k)
                            R[0] = S[(vi + vk + 1) % 64]
                        with T.sblock("step"):
                            vi = T.axis.spatial(64, vx * 32 + vy * 16 + tx)
                            S[vi] = S[vi] + R[0]
                    with T.sblock("B"):
                        vi = T.axis.spatial(64, vx * 32 + vy * 16 + tx)
                        B[vi] = S[63 - vi]

    @T.prim_func(s_tir=True)
    def some(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # Virtual threads decide differently.
        S = T.sblock_alloc_buffer((32,), scope="shared")
        for vx in T.thread_binding(2, thread="vthread.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                with T.sblock("S"):
                    vi = T.axis.spatial(32, vx * 16 + tx)
                    S[vi] = A[vi]
                if vx == 1:
                    with T.sblock("one"):
                        vi = T.axis.spatial(32, vx * 16 + tx)
                        B[vi] = S[31 - vi]
                    with T.sblock("two"):
                        vi = T.axis.spatial(32, vx * 16 + tx)
                        S[vi] = B[vi]
                with T.sblock("B"):
                    vi = T.axis.spatial(32, vx * 16 + tx)
                    B[vi] = S[(vi + 5) % 32]
