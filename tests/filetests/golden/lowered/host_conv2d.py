# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_conv2d", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        # with T.sblock("root"):
        assert num_args == 3, ("TypeError", ["Expected ", "3", " arguments", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert A_type_index == 0 or A_type_index == 4 or A_type_index == 7 or A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        A_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        W_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert W_type_index == 0 or W_type_index == 4 or W_type_index == 7 or W_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        W_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", W_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        O_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        assert O_type_index == 0 or O_type_index == 4 or O_type_index == 7 or O_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        O_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", O_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), 24), T.tvm_struct_get(args, 2, 15, T.handle().ty))
        assert not T.isnullptr(A_handle), ("TypeError", ["Mismatched type on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        assert 4 == T.tvm_struct_get(A_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "4"])
        assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "float32"])
        conv2d_A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        conv2d_A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(A_handle, 0, 9, "int32")
        assert not T.isnullptr(W_handle), ("TypeError", ["Mismatched type on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        assert 4 == T.tvm_struct_get(W_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "W", ".ndim on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "4"])
        assert T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(W_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "W", ".dtype on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "float32"])
        conv2d_W_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 2, T.handle("int64", "global").ty)
        conv2d_W_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(W_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "W", ".device_type on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "cpu"])
        assert not T.isnullptr(O_handle), ("TypeError", ["Mismatched type on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "Tensor"])
        assert 4 == T.tvm_struct_get(O_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "O", ".ndim on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "4"])
        assert T.tvm_struct_get(O_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(O_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(O_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "O", ".dtype on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "float32"])
        conv2d_O_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(O_handle, 0, 2, T.handle("int64", "global").ty)
        conv2d_O_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(O_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(O_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "O", ".device_type on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "cpu"])
        if not T.isnullptr(conv2d_A_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 3, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 2, 17, "int64")) and 256 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 1, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected to be compact array"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))), ("ValueError", ["A", " data pointer is NULL on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(conv2d_W_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 3, 17, "int64")) and 3 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 2, 17, "int64")) and 9 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 1, 17, "int64")) and 27 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "W", ".strides on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected to be compact array"])
        assert dev_id == T.tvm_struct_get(W_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "W.device_id", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected to match ", "A.device_id"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(W_handle, 0, 1, T.handle().ty))), ("ValueError", ["W", " data pointer is NULL on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(conv2d_O_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 3, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 2, 17, "int64")) and 256 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 1, 17, "int64")), ("ValueError", ["Mismatched ", "O", ".strides on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected to be compact array"])
        assert dev_id == T.tvm_struct_get(O_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "O.device_id", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected to match ", "A.device_id"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(O_handle, 0, 1, T.handle().ty))), ("ValueError", ["O", " data pointer is NULL on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 0, 17, "int64")) == 1, ("ValueError", ["Invalid ", "A.shape[0]", " on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "1"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 1, 17, "int64")) == 3, ("ValueError", ["Invalid ", "A.shape[1]", " on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "3"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 2, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[2]", " on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "16"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 3, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[3]", " on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "16"])
        assert T.uint64(0) == T.tvm_struct_get(A_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "0"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 0, 17, "int64")) == 8, ("ValueError", ["Invalid ", "W.shape[0]", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "8"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 1, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[1]", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "3"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 2, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[2]", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "3"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 3, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[3]", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "3"])
        assert T.uint64(0) == T.tvm_struct_get(W_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "W.byte_offset", " on argument #", "1", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "0"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 0, 17, "int64")) == 1, ("ValueError", ["Invalid ", "O.shape[0]", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "1"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 1, 17, "int64")) == 8, ("ValueError", ["Invalid ", "O.shape[1]", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "8"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 2, 17, "int64")) == 16, ("ValueError", ["Invalid ", "O.shape[2]", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "16"])
        assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 3, 17, "int64")) == 16, ("ValueError", ["Invalid ", "O.shape[3]", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "16"])
        assert T.uint64(0) == T.tvm_struct_get(O_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "O.byte_offset", " on argument #", "2", " when calling:\n  `", "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`,\n  expected ", "0"])
        A = T.decl_buffer((1, 3, 16, 16), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)))
        with T.attr(A, "storage_alignment", 64):
            W = T.decl_buffer((8, 3, 3, 3), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(W_handle, 0, 1, T.handle().ty)))
            with T.attr(W, "storage_alignment", 64):
                O = T.decl_buffer((1, 8, 16, 16), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(O_handle, 0, 1, T.handle().ty)))
                with T.attr(O, "storage_alignment", 64):
                    with T.attr({"compute_scope": "conv2d_compute_"}):
                        P = T.decl_buffer((972,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(3888), 2, 32))
                        if T.isnullptr(P.data):
                            T.tvm_throw_last_error()
                        A_1 = T.decl_buffer((768,), data=A.data)
                        W_1 = T.decl_buffer((216,), data=W.data)
                        O_1 = T.decl_buffer((2048,), data=O.data)
                        for c, h, w in T.grid(3, 18, 18):
                            P[c * 324 + h * 18 + w] = T.if_then_else(1 <= h and h < 17 and 1 <= w and w < 17, A_1[c * 256 + h * 16 + w - 17], T.float32(0.0))
                        for f, h, w, c, kh, kw in T.grid(8, 16, 16, 3, 3, 3):
                            cse_v1: T.let[T.int32] = f * 256 + h * 16 + w
                            if c == 0 and kh == 0 and kw == 0:
                                O_1[cse_v1] = T.float32(0.0)
                            O_1[cse_v1] = O_1[cse_v1] + P[c * 324 + h * 18 + kh * 18 + w + kw] * W_1[f * 27 + c * 9 + kh * 3 + kw]
                        if T.TVMBackendFreeWorkspace(1, dev_id, P.data) != 0:
                            T.tvm_throw_last_error()
                    return 0
