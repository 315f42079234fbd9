# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("uint16", "global"), B: T.handle("uint16", "global"), C: T.handle("uint16", "global")):
        bits = T.uint32()
        bits_1 = T.uint32()
        magnitude = T.uint32()
        rounded = T.uint32()
        magnitude_1 = T.uint32()
        rounded_1 = T.uint32()
        bits_2 = T.uint32()
        magnitude_2 = T.uint32()
        rounded_2 = T.uint32()
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        C_1 = T.decl_buffer((64,), "uint16", data=C)
        A_1 = T.decl_buffer((64,), "uint16", data=A)
        B_1 = T.decl_buffer((64,), "uint16", data=B)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            C_1[threadIdx_x] = T.Let(T.Let(T.Let(T.Cast("uint16", T.Select(rounded_1 <= T.uint32(32639), rounded_1, T.Select(magnitude_1 > T.uint32(2139095040), T.uint32(32704), T.uint32(32640))) | bits >> T.uint32(16) & T.uint32(32768)), where={rounded_1: magnitude_1 + ((T.uint32(1) << T.Sub(T.uint32(16), T.uint32(1))) - T.uint32(1)) + (magnitude_1 >> T.uint32(16) & T.uint32(1)) >> T.uint32(16)}), where={magnitude_1: bits & T.uint32(2147483647)}), where={bits: T.reinterpret("uint32", T.reinterpret("float32", T.Cast("uint32", T.Let(T.Let(T.Let(T.Cast("uint16", T.Select(rounded <= T.uint32(32639), rounded, T.Select(magnitude > T.uint32(2139095040), T.uint32(32704), T.uint32(32640))) | bits_1 >> T.uint32(16) & T.uint32(32768)), where={rounded: magnitude + ((T.uint32(1) << T.Sub(T.uint32(16), T.uint32(1))) - T.uint32(1)) + (magnitude >> T.uint32(16) & T.uint32(1)) >> T.uint32(16)}), where={magnitude: bits_1 & T.uint32(2147483647)}), where={bits_1: T.reinterpret("uint32", T.reinterpret("float32", T.Cast("uint32", A_1[threadIdx_x]) << T.uint32(16)) * T.reinterpret("float32", T.Cast("uint32", B_1[threadIdx_x]) << T.uint32(16)))})) << T.uint32(16)) + T.float32(0.5))})
            if T.reinterpret("float32", T.Cast("uint32", A_1[threadIdx_x]) << T.uint32(16)) < T.reinterpret("float32", T.Cast("uint32", B_1[threadIdx_x]) << T.uint32(16)):
                C_1[threadIdx_x] = T.Let(T.Let(T.Let(T.Cast("uint16", T.Select(rounded_2 <= T.uint32(32639), rounded_2, T.Select(magnitude_2 > T.uint32(2139095040), T.uint32(32704), T.uint32(32640))) | bits_2 >> T.uint32(16) & T.uint32(32768)), where={rounded_2: magnitude_2 + ((T.uint32(1) << T.Sub(T.uint32(16), T.uint32(1))) - T.uint32(1)) + (magnitude_2 >> T.uint32(16) & T.uint32(1)) >> T.uint32(16)}), where={magnitude_2: bits_2 & T.uint32(2147483647)}), where={bits_2: T.reinterpret("uint32", T.max(T.reinterpret("float32", T.Cast("uint32", A_1[threadIdx_x]) << T.uint32(16)), T.float32(0.0)))})
