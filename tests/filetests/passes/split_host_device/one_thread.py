# Launches of a device without thread axes have no extents; memory of theirs that is allocated around them moves inside.
# target: device without threads
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(A: T.Buffer(("n",), "float32"), s: T.float32, B: T.Buffer(("n",), "float32")):
        n = T.int32()
        L = T.sblock_alloc_buffer((n,))
        for i in range(n):
            with T.sblock("L"):
                v = T.axis.spatial(n, i)
                L[v] = A[v] * s
        for i in range(n):
            with T.sblock("B"):
                v = T.axis.spatial(n, i)
                B[v] = L[n - 1 - v]

    @T.prim_func
    def by_hand(A: T.Buffer((64,), "float32"), n: T.int32):
        S = T.alloc_buffer((64,), "float32", scope="npu.scratch")
        for k in range(n):
            with T.attr(0, "device_scope", 0):
                for i in range(64):
                    S[i] = A[i]
                with T.attr(0, "device_scope", 0):
                    for i in range(64):
                        A[i] = S[63 - i]
