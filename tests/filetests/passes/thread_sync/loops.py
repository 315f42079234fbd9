# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def tiles(A: T.Buffer((16, 256), "float32"), B: T.Buffer((16,), "float32")):
        S = T.sblock_alloc_buffer((16, 16), scope="shared")
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for k in range(16):
                        with T.sblock("S"):
                            vi, vk = T.axis.remap("SS", [ty, tx])
                            vo = T.axis.spatial(16, k)
                            S[vi, vk] = A[vi, vo * 16 + vk]
                        for j in range(16):
                            with T.sblock("B"):
                                T.where(ty == 0)
                                vi = T.axis.spatial(16, tx)
                                vr = T.axis.reduce(256, k * 16 + j)
                                with T.init():
                                    B[vi] = T.float32(0)
                                B[vi] = B[vi] + S[vi, vr % 16]

    @T.prim_func(s_tir=True)
    def carried(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), n: T.int32):
        # What an iteration reads the one before wrote.
        S = T.sblock_alloc_buffer((2, 32), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(32, tx)
                S[0, vi] = A[vi]
            for k in range(n):
                with T.sblock("step"):
                    vi = T.axis.spatial(32, tx)
                    vk = T.axis.scan(n, k)
                    S[(vk + 1) % 2, vi] = S[vk % 2, (vi + 1) % 32]
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = S[n % 2, vi]
