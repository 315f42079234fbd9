# Source in C asked the compiler what to expect of a vector, which it takes of scalars alone.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A0: T.Buffer((4,), "float32"), B1: T.Buffer((4,), "bool")):
        # with T.sblock("root"):
        B1[0:4] = T.likely(A0[T.Ramp(0, 1, 4)] < T.Broadcast(T.float32(-1), 4))
