# A thread that stores what is another's.
# target: device with shuffles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def swapped(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((32,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        W = T.alloc_buffer((32,), scope="warp")
        W[31 - tx] = A[tx]
        T.tvm_storage_sync("warp")
        A[tx] = W[tx]
