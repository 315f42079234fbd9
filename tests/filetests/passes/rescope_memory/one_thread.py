# On a device without thread axes memory that means nothing without threads becomes global, whatever the kind declares.
# target: device without threads
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def by_hand(A: T.Buffer((64,), "float32")):
        with T.attr(0, "device_scope", 0):
            S = T.alloc_buffer((64,), "float32", scope="shared")
            D = T.alloc_buffer((64,), "float32", scope="shared.dyn")
            W = T.alloc_buffer((64,), "float32", scope="warp")
            for i in range(64):
                S[i] = A[i]
                D[i] = A[i]
                W[i] = A[i]
            for i in range(64):
                A[i] = S[63 - i] + D[i] + W[i]
