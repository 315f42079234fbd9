# target: device without halves
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((4,), "float16")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            T.evaluate(T.atomic_add(T.address_of(A[0]), T.float16(1)))
