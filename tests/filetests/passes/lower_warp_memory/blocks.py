# Blocks, whose barriers are implicit, and rows of threads that make up a warp together.
# target: device with shuffles
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def turned(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        W = T.sblock_alloc_buffer((32,), scope="warp")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("W"):
                    vb, vi = T.axis.remap("SS", [bx, tx])
                    W[vi % 32] = A[vb, vi]
                with T.sblock("B"):
                    vb, vi = T.axis.remap("SS", [bx, tx])
                    B[vb, vi] = T.if_then_else(vi % 32 > 0, W[vi % 32 - 1], T.float32(0.0))

    @T.prim_func
    def rows(A_ptr: T.handle("int32", "global"), n: T.int32):
        A = T.decl_buffer((64,), "int32", data=A_ptr)
        W = T.alloc_buffer((32,), "int32", scope="warp")
        ty = T.launch_thread("threadIdx.y", 8)
        tx = T.launch_thread("threadIdx.x", 8)
        W[ty % 4 * 8 + tx] = A[ty * 8 + tx]
        T.tvm_storage_sync("warp")
        if n > 4:
            A[ty * 8 + tx] = W[tx * 4 + ty % 4]
