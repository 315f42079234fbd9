# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16,), "float32")):
        S = T.alloc_buffer((16,), "float32", scope="shared")
        for i in T.thread_binding(16, thread="threadIdx.x"):
            S[i] = A[i]
            A[i] = S[i] * T.float32(2)
