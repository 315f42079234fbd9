# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def symbolic(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((n,), data=A_ptr)
        bx = T.launch_thread("blockIdx.x", 2)
        tx = T.launch_thread("threadIdx.x", n)
        m: T.let[T.int32] = n * 2
        S = T.alloc_buffer((m,), scope="shared.dyn")
        H = T.alloc_buffer((n,), "float16", scope="shared.dyn")
        C = T.alloc_buffer((n,), scope="shared.dyn")
        S[tx] = A[tx]
        S[tx + n] = A[tx]
        H[tx] = T.Cast("float16", tx)
        C[tx] = T.float32(1)
        T.tvm_storage_sync("shared.dyn")
        if bx == 0:
            A[tx] = S[m - 1 - tx] + T.Cast("float32", H[n - 1 - tx]) + C[n - 1 - tx]
