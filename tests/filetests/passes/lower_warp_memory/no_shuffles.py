# Warps that do not shuffle have no memory.
# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def warp(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((32,), data=A_ptr)
        W = T.alloc_buffer((32,), scope="warp")
        tx = T.launch_thread("threadIdx.x", 32)
        W[tx] = A[tx]
        T.tvm_storage_sync("warp")
        A[tx] = W[31 - tx]
