# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32")):
        for i in T.thread_binding(16, thread="threadIdx.x"):
            A[i] = T.float32(0)
