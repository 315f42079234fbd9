# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("uint32", "global"), scale_low: T.uint32, scale_high: T.uint32, n: T.int32):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"]})
        n_1: T.let[T.int32] = T.max(n, 0)
        A_1 = T.decl_buffer((n_1 * n_1 * 2,), "uint32", data=A)
        with T.launch_thread("blockIdx.x", T.Cast("int32", T.Cast("uint32", n_1 + 63) >> T.uint32(6))) as blockIdx_x:
            with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
                if blockIdx_x * 64 + threadIdx_x < n_1:
                    for j in range(n_1):
                        at: T.let[T.int32] = j * n_1 + blockIdx_x * 64 + threadIdx_x
                        low: T.let[T.uint32] = A_1[at * 2]
                        high: T.let[T.uint32] = A_1[at * 2 + 1]
                        a: T.let[T.uint32] = low & T.uint32(65535)
                        a_1: T.let[T.uint32] = low >> T.uint32(16)
                        b: T.let[T.uint32] = scale_low & T.uint32(65535)
                        b_1: T.let[T.uint32] = scale_low >> T.uint32(16)
                        first: T.let[T.uint32] = a * b_1 + (a * b >> T.uint32(16))
                        second: T.let[T.uint32] = a_1 * b + (first & T.uint32(65535))
                        upper: T.let[T.uint32] = a_1 * b_1 + (first >> T.uint32(16)) + (second >> T.uint32(16))
                        high_1: T.let[T.uint32] = low * scale_high + high * scale_low + upper
                        low_1: T.let[T.uint32] = low * scale_low
                        at_1: T.let[T.int32] = j * n_1 + blockIdx_x * 64 + threadIdx_x
                        A_1[at_1 * 2] = low_1
                        A_1[at_1 * 2 + 1] = high_1
