# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def warps(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        # What threads do together, without any.
        for i in range(32):
            mask: T.let[T.uint32] = T.tvm_warp_activemask()
            B[i] = T.tvm_warp_shuffle(mask, A[i], 0, 32, 32)
            B[i] = T.tvm_warp_shuffle_up(mask, A[i], 1, 32, 32)
            B[i] = T.tvm_warp_shuffle_down(mask, A[i], 1, 32, 32)
            B[i] = T.tvm_warp_shuffle_xor(mask, A[i], 1, 32, 32)

    @T.prim_func
    def barriers(A: T.Buffer((32,), "float32")):
        T.evaluate(T.tvm_storage_sync("shared"))
        A[0] = T.float32(0)
        T.evaluate(T.tvm_storage_sync("warp"))

    @T.prim_func
    def all_of_them(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
            T.evaluate(T.tvm_thread_allreduce(T.uint32(1), A[0], T.bool(True), B[0], 0))
