# A device without thread axes: threads and their operations are refused by name.
# target: device without threads
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def bound(A: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            A[tx] = A[tx] + T.float32(1)

    @T.prim_func
    def waits(A: T.Buffer((64,), "float32")):
        for i in range(64):
            A[i] = A[i] + T.float32(1)
        T.tvm_storage_sync("shared")
        for i in range(64):
            A[i] = A[i] + T.float32(1)
