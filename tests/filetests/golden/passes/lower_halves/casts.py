# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def floats_kernel(A: T.handle("uint16", "global"), B: T.handle("float32", "global"), C: T.handle("float32", "global"), D: T.handle("uint16", "global")):
        bits = T.uint32()
        magnitude = T.uint32()
        bits_1 = T.uint32()
        magnitude_1 = T.uint32()
        rounded = T.uint32()
        gone = T.uint32()
        gone_1 = T.uint32()
        mantissa = T.uint32()
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((64,), data=B)
        A_1 = T.decl_buffer((64,), "uint16", data=A)
        D_1 = T.decl_buffer((64,), "uint16", data=D)
        C_1 = T.decl_buffer((64,), data=C)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            B_1[threadIdx_x] = T.Let(T.Let(T.reinterpret("float32", T.Select(magnitude <= T.uint32(31743), T.Select(magnitude < T.uint32(1024), T.reinterpret("uint32", T.Cast("float32", magnitude) * T.float32(5.9604645e-8)), magnitude + T.uint32(114688) << T.uint32(13)), T.Select(magnitude == T.uint32(31744), T.uint32(2139095040), T.uint32(2143289344))) | (bits & T.uint32(32768)) << T.uint32(16)), where={magnitude: bits & T.uint32(32767)}), where={bits: T.Cast("uint32", A_1[threadIdx_x])})
            D_1[threadIdx_x] = T.Let(T.Let(T.Let(T.Cast("uint16", T.Select(rounded <= T.uint32(31743), rounded, T.Select(magnitude_1 > T.uint32(2139095040), T.uint32(32256), T.uint32(31744))) | bits_1 >> T.uint32(16) & T.uint32(32768)), where={rounded: T.Select(magnitude_1 >= T.uint32(947912704), (magnitude_1 + ((T.uint32(1) << T.Sub(T.uint32(13), T.uint32(1))) - T.uint32(1)) + (magnitude_1 >> T.uint32(13) & T.uint32(1)) >> T.uint32(13)) - T.uint32(114688), T.Let(T.Let(T.Let(mantissa + ((T.uint32(1) << gone_1 - T.uint32(1)) - T.uint32(1)) + (mantissa >> gone_1 & T.uint32(1)) >> gone_1, where={mantissa: magnitude_1 & T.uint32(8388607) | T.uint32(8388608)}), where={gone_1: T.min(gone, T.uint32(31))}), where={gone: T.uint32(126) - (magnitude_1 >> T.uint32(23))}))}), where={magnitude_1: bits_1 & T.uint32(2147483647)}), where={bits_1: T.reinterpret("uint32", C_1[threadIdx_x])})

    @T.prim_func
    def integers_kernel(A: T.handle("uint16", "global"), B: T.handle("uint8", "global"), C: T.handle("int32", "global"), D: T.handle("uint16", "global")):
        bits = T.uint32()
        magnitude = T.uint32()
        number = T.int32()
        bits_1 = T.uint32()
        near = T.float32()
        magnitude_1 = T.uint32()
        rounded = T.uint32()
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        B_1 = T.decl_buffer((64,), "uint8", data=B)
        A_1 = T.decl_buffer((64,), "uint16", data=A)
        D_1 = T.decl_buffer((64,), "uint16", data=D)
        C_1 = T.decl_buffer((64,), "int32", data=C)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            B_1[threadIdx_x] = T.Cast("uint8", T.Let(T.Let(T.reinterpret("float32", T.Select(magnitude <= T.uint32(31743), T.Select(magnitude < T.uint32(1024), T.reinterpret("uint32", T.Cast("float32", magnitude) * T.float32(5.9604645e-8)), magnitude + T.uint32(114688) << T.uint32(13)), T.Select(magnitude == T.uint32(31744), T.uint32(2139095040), T.uint32(2143289344))) | (bits & T.uint32(32768)) << T.uint32(16)), where={magnitude: bits & T.uint32(32767)}), where={bits: T.Cast("uint32", A_1[threadIdx_x])}))
            D_1[threadIdx_x] = T.Let(T.Let(T.Let(T.Let(T.Cast("uint16", T.Select(rounded <= T.uint32(32639), rounded, T.Select(magnitude_1 > T.uint32(2139095040), T.uint32(32704), T.uint32(32640))) | bits_1 >> T.uint32(16) & T.uint32(32768)), where={rounded: magnitude_1 + ((T.uint32(1) << T.Sub(T.uint32(16), T.uint32(1))) - T.uint32(1)) + (magnitude_1 >> T.uint32(16) & T.uint32(1)) >> T.uint32(16)}), where={magnitude_1: bits_1 & T.uint32(2147483647)}), where={bits_1: T.Let(T.Select(T.Cast("int32", near) == number, T.reinterpret("uint32", near), T.Select(T.Select(number < 0, T.Cast("int32", near) < number, T.Cast("int32", near) > number), T.reinterpret("uint32", near) - T.uint32(1), T.reinterpret("uint32", near)) | T.uint32(1)), where={near: T.Cast("float32", number)})}), where={number: C_1[threadIdx_x]})
