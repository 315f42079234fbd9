# Each thread has two neighbours in each of three turns; its own it loads without a shuffle.
# target: device with shuffles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def parts(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((192,), data=A_ptr)
        B = T.decl_buffer((192,), data=B_ptr)
        W = T.alloc_buffer((192,), scope="warp")
        tx = T.launch_thread("threadIdx.x", 32)
        for i, j in T.grid(3, 2):
            W[i * 64 + tx * 2 + j] = A[i * 64 + tx * 2 + j]
        T.tvm_storage_sync("warp")
        for i, j in T.grid(3, 2):
            B[i * 64 + tx * 2 + j] = W[i * 64 + (31 - tx) * 2 + j] - W[i * 64 + tx * 2 + j]
