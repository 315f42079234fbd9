# A function that launches nothing takes tensors of the device, too.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4,), "float32")):
        T.evaluate(0)

    @T.prim_func(s_tir=True)
    def no_element(A: T.Buffer((0,), "float32")):
        for i in range(0):
            A[i] = 1.0
