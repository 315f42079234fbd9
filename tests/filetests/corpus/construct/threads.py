# Loops bound to threads, and threads launched around statements.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bound(A: T.Buffer((1024,), "float32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for ty in T.thread_binding(0, 2, thread="threadIdx.y"):
                for tx in T.thread_binding(128, thread="threadIdx.x"):
                    A[bx * 256 + ty * 128 + tx] = 1.0

    @T.prim_func
    def launched(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((n,), data=A_ptr)
        with T.launch_thread("blockIdx.x", (n + 127) >> 7) as bx:
            S = T.alloc_shared((128,))
            tx = T.launch_thread("threadIdx.x", 128)
            S[tx] = 1.0
            T.tvm_storage_sync("shared")
            if bx * 128 + tx < n:
                A[bx * 128 + tx] = S[tx]

    @T.prim_func
    def env(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((16,), data=A_ptr)
        bx = T.env_thread("blockIdx.x")
        with T.launch_thread(bx, 16):
            A[bx] = 1.0
