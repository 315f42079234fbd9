# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def there(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # A barrier of the author's is not doubled.
        S = T.sblock_alloc_buffer((32,), scope="shared")
        D = T.sblock_alloc_buffer((32,), scope="shared.dyn")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(32, tx)
                S[vi] = A[vi]
            T.tvm_storage_sync("shared")
            with T.sblock("D"):
                vi = T.axis.spatial(32, tx)
                D[vi] = S[31 - vi]
            with T.sblock("B"):
                vi = T.axis.spatial(32, tx)
                B[vi] = D[31 - vi]

    @T.prim_func
    def explicit(A_ptr: T.handle("float32", "global")):
        # No blocks: as its author made it.
        A = T.decl_buffer((32,), data=A_ptr)
        S = T.alloc_buffer((32,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 32)
        S[tx] = A[tx]
        T.tvm_storage_sync("shared")
        A[tx] = S[31 - tx]
