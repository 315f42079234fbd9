# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel_kernel(A: T.handle("uint32", "global"), B: T.handle("int32", "global"), C: T.handle("uint32", "global"), D: T.handle("float32", "global")):
        at = T.int32()
        low = T.uint32()
        high = T.uint32()
        spread = T.uint32()
        spread_1 = T.uint32()
        spread_2 = T.uint32()
        spread_3 = T.uint32()
        bits = T.uint32()
        pairs = T.uint32()
        fours = T.uint32()
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["threadIdx.x"]})
        C_1 = T.decl_buffer((128,), "uint32", data=C)
        A_1 = T.decl_buffer((128,), "uint32", data=A)
        B_1 = T.decl_buffer((64,), "int32", data=B)
        D_1 = T.decl_buffer((64,), data=D)
        with T.launch_thread("threadIdx.x", 64) as threadIdx_x:
            low_1: T.let[T.uint32] = A_1[threadIdx_x * 2]
            high_1: T.let[T.uint32] = A_1[threadIdx_x * 2 + 1]
            x: T.let[T.int32] = B_1[threadIdx_x]
            low_2: T.let[T.uint32] = T.Cast("uint32", x)
            high_2: T.let[T.uint32] = T.Select(x < 0, T.uint32(4294967295), T.uint32(0))
            low_3: T.let[T.uint32] = low_1 + low_2
            high_3: T.let[T.uint32] = high_1 + high_2 + T.Select(low_3 < low_1, T.uint32(1), T.uint32(0))
            C_1[threadIdx_x * 2] = low_3
            C_1[threadIdx_x * 2 + 1] = high_3
            low_4: T.let[T.uint32] = A_1[threadIdx_x * 2]
            B_1[threadIdx_x] = T.Cast("int32", low_4) * 3
            low_5: T.let[T.uint32] = A_1[threadIdx_x * 2]
            high_4: T.let[T.uint32] = A_1[threadIdx_x * 2 + 1]
            if T.Select(high_4 == T.uint32(0), low_5 < T.uint32(10), T.Cast("int32", high_4) < 0):
                both: T.let = T.if_then_else(threadIdx_x < 4, T.Let(T.Let(T.Let(T.Shuffle([low, high], [0, 1]), where={high: A_1[at * 2 + 1]}), where={low: A_1[at * 2]}), where={at: threadIdx_x + 60}), T.Shuffle([T.uint32(4294967295), T.uint32(4294967295)], [0, 1]))
                low_6: T.let[T.uint32] = T.Shuffle([both], [0])
                high_5: T.let[T.uint32] = T.Shuffle([both], [1])
                C_1[threadIdx_x * 2] = low_6
                C_1[threadIdx_x * 2 + 1] = high_5
            low_7: T.let[T.uint32] = A_1[threadIdx_x * 2]
            high_6: T.let[T.uint32] = A_1[threadIdx_x * 2 + 1]
            negative: T.let[T.bool] = T.Cast("int32", high_6) < 0
            low_8: T.let[T.uint32] = T.uint32(0) - low_7
            high_7: T.let[T.uint32] = T.uint32(0) - high_6 - T.Select(T.uint32(0) < low_7, T.uint32(1), T.uint32(0))
            low_9: T.let[T.uint32] = T.Select(negative, low_8, low_7)
            high_8: T.let[T.uint32] = T.Select(negative, high_7, high_6)
            is_long: T.let[T.bool] = high_8 != T.uint32(0)
            moved: T.let[T.uint32] = T.Cast("uint32", T.Let(T.Let(T.Let(T.Let(32 - T.Cast("int32", T.Let(T.Let(T.Let((fours + (fours >> T.uint32(4)) & T.uint32(252645135)) * T.uint32(16843009) >> T.uint32(24), where={fours: (pairs & T.uint32(858993459)) + (pairs >> T.uint32(2) & T.uint32(858993459))}), where={pairs: bits - (bits >> T.uint32(1) & T.uint32(1431655765))}), where={bits: spread_3 | spread_3 >> T.uint32(16)})), where={spread_3: spread_2 | spread_2 >> T.uint32(8)}), where={spread_2: spread_1 | spread_1 >> T.uint32(4)}), where={spread_1: spread | spread >> T.uint32(2)}), where={spread: high_8 | high_8 >> T.uint32(1)})) & T.uint32(31)
            word: T.let[T.uint32] = high_8 << moved | low_9 >> T.uint32(1) >> T.uint32(31) - moved
            value: T.let[T.float32] = T.Cast("float32", T.Select(is_long, word | T.Select(low_9 << moved != T.uint32(0), T.uint32(1), T.uint32(0)), low_9)) * T.reinterpret("float32", T.Select(is_long, T.uint32(159) - moved, T.uint32(127)) << T.uint32(23))
            D_1[threadIdx_x] = T.Select(negative, T.float32(0.0) - value, value)
