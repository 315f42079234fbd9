# Branches that threads decide on differently, parts of another sort, pointers.
# target: device with shuffles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def apart(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((32,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        W = T.alloc_buffer((32,), scope="warp")
        W[tx] = A[tx]
        T.tvm_storage_sync("warp")
        if tx < 16:
            A[tx] = W[31 - tx]
