# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def written(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((4, 6, 5), data=A_ptr)
        B = T.decl_buffer((4, 5), data=B_ptr)
        bx = T.launch_thread("blockIdx.x", 4)
        tx = T.launch_thread("threadIdx.x", 5)
        ty = T.launch_thread("threadIdx.y", 6)
        t = T.alloc_local((1,))
        s = T.alloc_buffer((5,), scope="shared")
        for k in range(2):
            with T.attr(T.comm_reducer(lambda x0, y0: T.max(x0, y0), [T.float32("-inf")]), "reduce_scope", 0):
                T.tvm_thread_allreduce(T.uint32(1), A[bx, ty, tx], ty < n, t[0], ty)
        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0)]), "reduce_scope", 0):
            T.tvm_thread_allreduce(T.uint32(1), A[bx, ty, tx], T.bool(True), s[tx], ty)
        if ty == 0:
            B[bx, tx] = t[0] + s[tx]

    @T.prim_func
    def dynamic(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((n,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        t = T.alloc_local((1,))
        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0)]), "reduce_scope", 0):
            T.tvm_thread_allreduce(T.uint32(1), A[tx], T.bool(True), t[0], tx)
        if tx < 1:
            A[tx] = t[0]
