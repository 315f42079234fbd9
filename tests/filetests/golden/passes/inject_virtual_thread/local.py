# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def sums(A: T.Buffer((4, 64), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        R = T.alloc_buffer((1,), scope="local")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            R_1 = T.alloc_buffer((2, 1), scope="local")
            with T.attr({"chipdock.implicit_barriers": 1}):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for vthread_x in T.unroll(2):
                        R_1[vthread_x, 0] = T.float32(0.0)
                        for k in range(4):
                            R_1[vthread_x, 0] = R_1[vthread_x, 0] + A[k, bx * 32 + vthread_x * 16 + tx]
                        B[bx * 32 + vthread_x * 16 + tx] = R_1[vthread_x, 0]
