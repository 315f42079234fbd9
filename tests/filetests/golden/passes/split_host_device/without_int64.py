# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A_handle: T.handle, scale: T.int64):
        n = T.int64()
        A = T.match_buffer(A_handle, (n, n), "int64")
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        assert T.Cast("int64", T.Cast("int32", n)) == n, ("ValueError", ["kernel: expected n within the int32 that indices of the device have, found ", n])
        assert n * n <= T.int64(1073741823), ("ValueError", ["kernel: expected at most 1073741823 elements of buffer A, its offset included, found ", n * n, ": the indices of target \"device-kind\" have 32 bits; use smaller buffers, or a target that has int64"])
        A_1 = T.decl_buffer((n * n,), "int64", data=A.data)
        T.tvm_call_packed("kernel_kernel", A.data, T.Cast("uint32", scale), T.Cast("uint32", scale >> T.int64(32)), T.Cast("int32", n), T.max((n + T.int64(63)) // T.int64(64), T.int64(0)), T.int64(64))

    @T.prim_func
    def kernel_kernel(A: T.handle("int64", "global"), scale_low: T.uint32, scale_high: T.uint32, n: T.int32):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        scale: T.let[T.int64] = T.Cast("int64", scale_high) << T.int64(32) | T.Cast("int64", scale_low)
        n_1: T.let[T.int64] = T.Cast("int64", T.max(n, 0))
        A_1 = T.decl_buffer((n_1 * n_1,), "int64", data=A)
        with T.launch_thread("blockIdx.x", T.Cast("int32", (n_1 + T.int64(63)) // T.int64(64))) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
                if T.Cast("int64", blockIdx_x) * T.int64(64) + T.Cast("int64", threadIdx_x) < n_1:
                    for j in range(n_1):
                        A_1[j * n_1 + T.Cast("int64", blockIdx_x) * T.int64(64) + T.Cast("int64", threadIdx_x)] = A_1[j * n_1 + T.Cast("int64", blockIdx_x) * T.int64(64) + T.Cast("int64", threadIdx_x)] * scale
