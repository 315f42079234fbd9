# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def branch(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.sblock_alloc_buffer((16,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("part"):
                T.where(tx < 16)
                vi = T.axis.spatial(32, tx)
                with T.sblock("S"):
                    S[vi] = A[vi] * T.float32(2)
                for k in range(4):
                    with T.sblock("step"):
                        vk = T.axis.scan(4, k)
                        with T.sblock("read"):
                            B[vi] = S[(vi + vk + 1) % 16]
                        with T.sblock("write"):
                            S[vi] = B[vi]

    @T.prim_func(s_tir=True)
    def sides(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.sblock_alloc_buffer((32,), scope="shared")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("sides"):
                vi = T.axis.spatial(32, tx)
                if A[vi] > T.float32(0):
                    S[vi] = A[vi]
                    x: T.float32 = A[vi] * T.float32(3)
                    with T.sblock("r"):
                        B[vi] = x
                else:
                    S[vi] = T.float32(-1)
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = B[vi] + S[31 - vi]

    @T.prim_func(s_tir=True)
    def uniform(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), n: T.int32):
        S = T.sblock_alloc_buffer((32,), scope="shared")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                if bx < n:
                    with T.sblock("S"):
                        vi = T.axis.spatial(32, bx * 16 + tx)
                        S[vi] = A[vi]
                    with T.sblock("B"):
                        vi = T.axis.spatial(32, bx * 16 + tx)
                        B[vi] = S[bx * 16 + 15 - tx]
