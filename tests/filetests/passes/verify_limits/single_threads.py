# Where a warp is one thread, its barrier makes nobody wait.
# target: device without warps
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def turned(A_ptr: T.handle("int32", "global"), B_ptr: T.handle("int32", "global")):
        A = T.decl_buffer((32,), "int32", data=A_ptr)
        B = T.decl_buffer((32,), "int32", data=B_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        B[tx] = A[tx]
        T.tvm_storage_sync("warp")
        A[tx] = B[31 - tx]
