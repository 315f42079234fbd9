# target: device
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def deep(A: T.Buffer((128,), "float32")):
        for tz in T.thread_binding(128, thread="threadIdx.z"):
            with T.sblock("A"):
                vi = T.axis.spatial(128, tz)
                A[vi] = T.float32(0)

    @T.prim_func(s_tir=True)
    def wide(A: T.Buffer((70000,), "float32")):
        for by in T.thread_binding(70000, thread="blockIdx.y"):
            for tx in T.thread_binding(1, thread="threadIdx.x"):
                with T.sblock("A"):
                    vi = T.axis.spatial(70000, by + tx)
                    A[vi] = T.float32(0)

    @T.prim_func(s_tir=True)
    def many(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32"), n: T.int32):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            with T.sblock("D"):
                vi = T.axis.spatial(4, tx)
                D[vi] = A[vi] + B[vi] + C[vi] + T.Cast("float32", n)

    @T.prim_func(s_tir=True)
    def dynamic(A: T.Buffer((1024,), "float32")):
        S = T.sblock_alloc_buffer((768,), scope="shared.dyn")
        R = T.sblock_alloc_buffer((512,), scope="shared")
        for tx in T.thread_binding(256, thread="threadIdx.x"):
            with T.sblock("S"):
                vi = T.axis.spatial(256, tx)
                S[vi + 512] = A[vi]
                S[vi] = S[vi + 512]
                R[vi] = S[vi]
                R[vi + 256] = R[vi]
                A[vi] = R[vi + 256]

    @T.prim_func
    def shuffles(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((32,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 32)
        a: T.let[T.float32] = A[tx]
        A[tx] = T.tvm_warp_shuffle_down(T.uint32(4294967295), a, 1, 32, 32)
