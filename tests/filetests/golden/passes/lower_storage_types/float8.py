# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def to_float32(A: T.Buffer((16,), "float8_e4m3fn"), B: T.Buffer((16,), "float8_e5m2"), C: T.Buffer((16,), "float32")):
        bits = T.uint32()
        magnitude = T.uint32()
        bits_1 = T.uint32()
        magnitude_1 = T.uint32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), "uint8", data=A.data)
        B_1 = T.decl_buffer((T.int64(16),), "uint8", data=B.data)
        C_1 = T.decl_buffer((T.int64(16),), data=C.data)
        for i in range(16):
            C_1[T.Cast("int64", i)] = T.Let(T.Let(T.reinterpret("float32", T.Select(magnitude <= T.uint32(126), T.Select(magnitude < T.uint32(8), T.reinterpret("uint32", T.Cast("float32", magnitude) * T.float32(0.001953125)), magnitude + T.uint32(960) << T.uint32(20)), T.uint32(2143289344)) | (bits & T.uint32(128)) << T.uint32(24)), where={magnitude: bits & T.uint32(127)}), where={bits: T.Cast("uint32", A_1[T.Cast("int64", i)])}) * T.Let(T.Let(T.reinterpret("float32", T.Select(magnitude_1 <= T.uint32(123), T.Select(magnitude_1 < T.uint32(4), T.reinterpret("uint32", T.Cast("float32", magnitude_1) * T.float32(1.5258789e-5)), magnitude_1 + T.uint32(448) << T.uint32(21)), T.Select(magnitude_1 == T.uint32(124), T.uint32(2139095040), T.uint32(2143289344))) | (bits_1 & T.uint32(128)) << T.uint32(24)), where={magnitude_1: bits_1 & T.uint32(127)}), where={bits_1: T.Cast("uint32", B_1[T.Cast("int64", i)])})

    @T.prim_func
    def from_float32(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float8_e4m3fn"), C: T.Buffer((16,), "float8_e5m2")):
        bits = T.uint32()
        magnitude = T.uint32()
        rounded = T.uint32()
        gone = T.uint32()
        gone_1 = T.uint32()
        mantissa = T.uint32()
        bits_1 = T.uint32()
        magnitude_1 = T.uint32()
        rounded_1 = T.uint32()
        gone_2 = T.uint32()
        gone_3 = T.uint32()
        mantissa_1 = T.uint32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), data=A.data)
        B_1 = T.decl_buffer((T.int64(16),), "uint8", data=B.data)
        C_1 = T.decl_buffer((T.int64(16),), "uint8", data=C.data)
        for i in range(16):
            B_1[T.Cast("int64", i)] = T.Let(T.Let(T.Let(T.Cast("uint8", T.Select(rounded <= T.uint32(126), rounded, T.uint32(127)) | bits >> T.uint32(24) & T.uint32(128)), where={rounded: T.Select(magnitude >= T.uint32(1015021568), (magnitude + ((T.uint32(1) << T.Sub(T.uint32(20), T.uint32(1))) - T.uint32(1)) + (magnitude >> T.uint32(20) & T.uint32(1)) >> T.uint32(20)) - T.uint32(960), T.Let(T.Let(T.Let(mantissa + ((T.uint32(1) << gone_1 - T.uint32(1)) - T.uint32(1)) + (mantissa >> gone_1 & T.uint32(1)) >> gone_1, where={mantissa: magnitude & T.uint32(8388607) | T.uint32(8388608)}), where={gone_1: T.min(gone, T.uint32(31))}), where={gone: T.uint32(141) - (magnitude >> T.uint32(23))}))}), where={magnitude: bits & T.uint32(2147483647)}), where={bits: T.reinterpret("uint32", A_1[T.Cast("int64", i)])})
            C_1[T.Cast("int64", i)] = T.uint8(63)
        for i in T.vectorized(16):
            C_1[T.Cast("int64", i)] = T.Let(T.Let(T.Let(T.Cast("uint8", T.Select(rounded_1 <= T.uint32(123), rounded_1, T.Select(magnitude_1 > T.uint32(2139095040), T.uint32(126), T.uint32(124))) | bits_1 >> T.uint32(24) & T.uint32(128)), where={rounded_1: T.Select(magnitude_1 >= T.uint32(947912704), (magnitude_1 + ((T.uint32(1) << T.Sub(T.uint32(21), T.uint32(1))) - T.uint32(1)) + (magnitude_1 >> T.uint32(21) & T.uint32(1)) >> T.uint32(21)) - T.uint32(448), T.Let(T.Let(T.Let(mantissa_1 + ((T.uint32(1) << gone_3 - T.uint32(1)) - T.uint32(1)) + (mantissa_1 >> gone_3 & T.uint32(1)) >> gone_3, where={mantissa_1: magnitude_1 & T.uint32(8388607) | T.uint32(8388608)}), where={gone_3: T.min(gone_2, T.uint32(31))}), where={gone_2: T.uint32(134) - (magnitude_1 >> T.uint32(23))}))}), where={magnitude_1: bits_1 & T.uint32(2147483647)}), where={bits_1: T.reinterpret("uint32", A_1[T.Cast("int64", i)])})
