# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bound(A: T.Buffer((1024,), "float32")):
        # with T.sblock("root"):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for ty in T.thread_binding(2, thread="threadIdx.y"):
                for tx in T.thread_binding(128, thread="threadIdx.x"):
                    A[bx * 256 + ty * 128 + tx] = T.float32(1.0)

    @T.prim_func
    def launched(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((n,), data=A_ptr)
        with T.launch_thread("blockIdx.x", n + 127 >> 7) as bx:
            S = T.alloc_buffer((128,), scope="shared")
            with T.launch_thread("threadIdx.x", 128) as tx:
                S[tx] = T.float32(1.0)
                T.tvm_storage_sync("shared")
                if bx * 128 + tx < n:
                    A[bx * 128 + tx] = S[tx]

    @T.prim_func
    def env(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((16,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 16) as thread:
            A[thread] = T.float32(1.0)
