# Barriers, warps, reductions across threads, threads that end early.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def shuffles(A_ptr: T.handle("float32", "global"), C_ptr: T.handle("int8", "global")):
        A = T.decl_buffer((32,), data=A_ptr)
        C = T.decl_buffer((32,), "int8", data=C_ptr)
        with T.launch_thread("threadIdx.x", 32) as tx:
            mask = T.alloc_local((1,), "uint32")
            mask[0] = T.tvm_warp_activemask()
            A[tx] = T.tvm_warp_shuffle(mask[0], A[tx], 0, 32, 32)
            A[tx] = T.tvm_warp_shuffle_up(mask[0], A[tx], 1, 16, 32)
            A[tx] = T.tvm_warp_shuffle_down(T.uint32(4294967295), A[tx], tx % 4, 16, 32)
            C[tx] = T.tvm_warp_shuffle_xor(mask[0], C[tx], 1, 2, 64)
            T.tvm_storage_sync("warp")

    @T.prim_func(s_tir=True)
    def allreduce(A_ptr: T.handle("float32", "global"), I_ptr: T.handle("int32", "global")):
        A = T.decl_buffer((64,), data=A_ptr)
        Index = T.decl_buffer((64,), "int32", data=I_ptr)
        with T.launch_thread("blockIdx.x", 2) as bx:
            tx = T.launch_thread("threadIdx.x", 32)
            with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                total = T.alloc_local((1,))
                T.tvm_thread_allreduce(T.uint32(1), A[bx * 32 + tx], T.bool(True), total[0], tx)
                if tx == 0:
                    A[bx * 32] = total[0]
            with T.attr(T.comm_reducer(lambda x0, x1, y0, y1: (T.max(x0, y0), T.Select(x0 > y0, x1, y1)), [T.float32("-inf"), T.int32(0)]), "reduce_scope", 0):
                best = T.alloc_local((1,))
                at = T.alloc_local((1,), "int32")
                T.tvm_thread_allreduce(T.uint32(2), A[tx], Index[tx], tx < 30, best[0], at[0], tx)

    @T.prim_func(s_tir=True)
    def ends(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((n,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        if tx >= n:
            T.thread_return()
        if T.tvm_thread_invariant(n > 16):
            T.assume(n < 1000)
            A[tx] = T.float32(1.0)
