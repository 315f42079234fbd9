# A launch of one thread: memory stays around it, whatever loops say of their iterations.
# target: device without threads
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def parallel(X: T.Buffer(("n",), "int16"), Y: T.Buffer((n,), "int16")):
        n = T.int32()
        B = T.alloc_buffer((n, 4), "int16")
        with T.attr({"device_scope": 0}):
            for i in T.parallel(n):
                for j in range(4):
                    B[i, j] = X[i]
                Y[i] = B[i, 3]

    @T.prim_func(s_tir=True)
    def serial(X: T.Buffer(("n",), "int16"), Y: T.Buffer((n,), "int16")):
        # One iteration follows the other in one memory, which may then be as small as one needs.
        n = T.int32()
        B = T.alloc_buffer((n, 4), "int16")
        with T.attr({"device_scope": 0}):
            for i in range(n):
                for j in range(4):
                    B[i, j] = X[i]
                Y[i] = B[i, 3]
