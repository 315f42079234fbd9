# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def shared(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        S = T.alloc_buffer((64,), scope="shared")
        R = T.alloc_buffer((1,), scope="local")
        for threadIdx_x in T.thread_binding(16, thread="threadIdx.x"):
            R_1 = T.alloc_buffer((2, 2, 1), scope="local")
            with T.attr({"chipdock.implicit_barriers": 1}):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for vthread_x in T.unroll(2):
                        for vthread_y in T.unroll(2):
                            S[vthread_x * 32 + vthread_y * 16 + tx] = A[vthread_x * 32 + vthread_y * 16 + tx]
                    for k in range(3):
                        for vthread_x in T.unroll(2):
                            for vthread_y in T.unroll(2):
                                R_1[vthread_x, vthread_y, 0] = S[(vthread_x * 32 + vthread_y * 16 + tx + k + 1) % 64]
                        for vthread_x in T.unroll(2):
                            for vthread_y in T.unroll(2):
                                S[vthread_x * 32 + vthread_y * 16 + tx] = S[vthread_x * 32 + vthread_y * 16 + tx] + R_1[vthread_x, vthread_y, 0]
                    for vthread_x in T.unroll(2):
                        for vthread_y in T.unroll(2):
                            B[vthread_x * 32 + vthread_y * 16 + tx] = S[63 - vthread_x * 32 - vthread_y * 16 - tx]

    @T.prim_func
    def some(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        S = T.alloc_buffer((32,), scope="shared")
        for threadIdx_x in T.thread_binding(16, thread="threadIdx.x"):
            taken = T.alloc_buffer((2,), "bool", scope="local")
            with T.attr({"chipdock.implicit_barriers": 1}):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for vthread_x in T.unroll(2):
                        S[vthread_x * 16 + tx] = A[vthread_x * 16 + tx]
                    for vthread_x in T.unroll(2):
                        taken[vthread_x] = vthread_x == 1
                    for vthread_x in T.unroll(2):
                        if taken[vthread_x]:
                            B[vthread_x * 16 + tx] = S[31 - vthread_x * 16 - tx]
                    for vthread_x in T.unroll(2):
                        if taken[vthread_x]:
                            S[vthread_x * 16 + tx] = B[vthread_x * 16 + tx]
                    for vthread_x in T.unroll(2):
                        B[vthread_x * 16 + tx] = S[(vthread_x * 16 + tx + 5) % 32]
