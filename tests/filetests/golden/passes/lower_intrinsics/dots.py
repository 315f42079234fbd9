# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_native(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "handle", "handle", "handle"], "chipdock.signature": "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "chipdock.source_name": "native", "global_symbol": "__tvm_ffi_native", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 5) & (not T.isnullptr(args))):
            return Module.native_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.native_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.native_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(290275364700161) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.native_checked_(args, num_args)
        A_data: T.let[T.handle("uint8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(16) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.native_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.native_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.native_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(290271069732865) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.native_checked_(args, num_args)
        B_data: T.let[T.handle("int8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(16) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.native_checked_(args, num_args)
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(C_type_index == 70):
            if not T.likely(C_type_index == 7):
                return Module.native_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty))):
            return Module.native_checked_(args, num_args)
        C_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(C_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", C_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", C_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
        C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(C_shape))):
            return Module.native_checked_(args, num_args)
        C_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(C_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(C_shape, 0, 17, "int64") ^ T.int64(4) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        if T.likely(not T.isnullptr(C_strides)):
            if not T.likely(T.tvm_struct_get(C_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.native_checked_(args, num_args)
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not T.likely(H_type_index == 70):
            if not T.likely(H_type_index == 7):
                return Module.native_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 3, 15, T.handle().ty))):
            return Module.native_checked_(args, num_args)
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 3, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", H_handle, T.int64(16)) ^ T.int64(299084342624257) | T.handle_load("int64", H_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(H_shape))):
            return Module.native_checked_(args, num_args)
        H_data: T.let[T.handle("bfloat16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(H_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        if T.likely(not T.isnullptr(H_strides)):
            if not T.likely(T.tvm_struct_get(H_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.native_checked_(args, num_args)
        S_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not T.likely(S_type_index == 70):
            if not T.likely(S_type_index == 7):
                return Module.native_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 4, 15, T.handle().ty))):
            return Module.native_checked_(args, num_args)
        S_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 4, 15, T.handle().ty), T.Select(S_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", S_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", S_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        S_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 2, T.handle("int64", "global").ty)
        S_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(S_shape))):
            return Module.native_checked_(args, num_args)
        S_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(S_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(S_shape, 0, 17, "int64") ^ T.int64(4) == T.int64(0)):
            return Module.native_checked_(args, num_args)
        if T.likely(not T.isnullptr(S_strides)):
            if not T.likely(T.tvm_struct_get(S_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.native_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", H_data) & T.uint64(1) | (T.reinterpret("uint64", C_data) | T.reinterpret("uint64", S_data)) & T.uint64(3) == T.uint64(0)):
            return Module.native_checked_(args, num_args)
        return Module.native_compute_(A_data, B_data, C_data, H_data, S_data)

    @T.prim_func
    def native_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def native_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 5, ("TypeError", ["Expected 5 arguments", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.native_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.native_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (C_type_index == 7) | (C_type_index == 70):
            return Module.native_expected_Tensor_(2, C_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        C_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(C_type_index == 70, T.int64(24), T.int64(0)))
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not (H_type_index == 7) | (H_type_index == 70):
            return Module.native_expected_Tensor_(3, H_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 3, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 3, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        S_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not (S_type_index == 7) | (S_type_index == 70):
            return Module.native_expected_Tensor_(4, S_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 4, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        S_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 4, 15, T.handle().ty), T.Select(S_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected uint8, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("uint8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int8, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("int8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(C_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched C.ndim on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(C_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(C_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched C.dtype on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(C_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched C.device_type on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(C_handle, 0, 10, "int32")])
        C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
        C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
        C_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(C_handle, 0, 8, "uint64")))
        assert not T.isnullptr(C_shape), ("ValueError", ["Mismatched C.shape on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(H_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched H.ndim on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(H_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(H_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got int", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got uint", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got float", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got bfloat", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected bfloat16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(H_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched H.device_type on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(H_handle, 0, 10, "int32")])
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        H_data: T.let[T.handle("bfloat16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        assert not T.isnullptr(H_shape), ("ValueError", ["Mismatched H.shape on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(S_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched S.ndim on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(S_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(S_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(S_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched S.device_type on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(S_handle, 0, 10, "int32")])
        S_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 2, T.handle("int64", "global").ty)
        S_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 3, T.handle("int64", "global").ty)
        S_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(S_handle, 0, 8, "uint64")))
        assert not T.isnullptr(S_shape), ("ValueError", ["Mismatched S.shape on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(16), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 16, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(16), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 16, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(C_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid C.shape[0] on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 4, but got ", T.tvm_struct_get(C_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(H_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid H.shape[0] on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 8, but got ", T.tvm_struct_get(H_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(S_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid S.shape[0] on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected 4, but got ", T.tvm_struct_get(S_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(C_strides):
            assert T.tvm_struct_get(C_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(C_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched C.strides on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is C.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(C_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(C_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched C.device_id on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(C_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty)), ("ValueError", ["C data pointer is NULL on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", C_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned C.data on argument #2", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", C_data) & T.uint64(3)])
        if not T.isnullptr(H_strides):
            assert T.tvm_struct_get(H_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(H_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched H.strides on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is H.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(H_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(H_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched H.device_id on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(H_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty)), ("ValueError", ["H data pointer is NULL on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", H_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned H.data on argument #3", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", H_data) & T.uint64(1)])
        if not T.isnullptr(S_strides):
            assert T.tvm_struct_get(S_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(S_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched S.strides on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is S.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(S_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(S_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched S.device_id on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(S_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty)), ("ValueError", ["S data pointer is NULL on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", S_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned S.data on argument #4", " when calling:\n  `", "native(A: Tensor([16], uint8), B: Tensor([16], int8), C: Tensor([4], int32), H: Tensor([8], bfloat16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", S_data) & T.uint64(3)])
        return Module.native_compute_(A_data, B_data, C_data, H_data, S_data)

    @T.prim_func
    def native_compute_(A: T.handle("uint8", "global"), B: T.handle("int8", "global"), C: T.handle("int32", "global"), H: T.handle("bfloat16", "global"), S: T.handle("float32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), "uint8", data=A)
        B_1 = T.decl_buffer((T.int64(16),), "int8", data=B)
        C_1 = T.decl_buffer((T.int64(4),), "int32", data=C)
        H_1 = T.decl_buffer((T.int64(8),), "bfloat16", data=H)
        S_1 = T.decl_buffer((T.int64(4),), data=S)
        C_1[T.int64(0):T.int64(4)] = T.dot_add(C_1[T.Ramp(T.int64(0), T.int64(1), 4)], A_1[T.Ramp(T.int64(0), T.int64(1), 16)], B_1[T.Ramp(T.int64(0), T.int64(1), 16)])
        S_1[T.int64(0):T.int64(4)] = T.dot_add(S_1[T.Ramp(T.int64(0), T.int64(1), 4)], H_1[T.Ramp(T.int64(0), T.int64(1), 8)], H_1[T.Ramp(T.int64(0), T.int64(1), 8)])
        return 0

    @T.prim_func
    def __tvm_ffi_lowered(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "handle", "handle", "handle"], "chipdock.signature": "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "chipdock.source_name": "lowered", "global_symbol": "__tvm_ffi_lowered", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 5) & (not T.isnullptr(args))):
            return Module.lowered_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.lowered_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.lowered_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(290271069732865) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.lowered_checked_(args, num_args)
        A_data: T.let[T.handle("int8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(16) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.lowered_checked_(args, num_args)
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(C_type_index == 70):
            if not T.likely(C_type_index == 7):
                return Module.lowered_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.lowered_checked_(args, num_args)
        C_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(C_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", C_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", C_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
        C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(C_shape))):
            return Module.lowered_checked_(args, num_args)
        C_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(C_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(C_shape, 0, 17, "int64") ^ T.int64(4) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        if T.likely(not T.isnullptr(C_strides)):
            if not T.likely(T.tvm_struct_get(C_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.lowered_checked_(args, num_args)
        W_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(W_type_index == 70):
            if not T.likely(W_type_index == 7):
                return Module.lowered_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty))):
            return Module.lowered_checked_(args, num_args)
        W_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(W_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", W_handle, T.int64(16)) ^ T.int64(299067162755073) | T.handle_load("int64", W_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        W_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 2, T.handle("int64", "global").ty)
        W_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(W_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(W_shape))):
            return Module.lowered_checked_(args, num_args)
        W_data: T.let[T.handle("int16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(W_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(W_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(W_shape, 0, 17, "int64") ^ T.int64(2) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        if T.likely(not T.isnullptr(W_strides)):
            if not T.likely(T.tvm_struct_get(W_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.lowered_checked_(args, num_args)
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not T.likely(H_type_index == 70):
            if not T.likely(H_type_index == 7):
                return Module.lowered_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 3, 15, T.handle().ty))):
            return Module.lowered_checked_(args, num_args)
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 3, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", H_handle, T.int64(16)) ^ T.int64(299075752689665) | T.handle_load("int64", H_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(H_shape))):
            return Module.lowered_checked_(args, num_args)
        H_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(H_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        if T.likely(not T.isnullptr(H_strides)):
            if not T.likely(T.tvm_struct_get(H_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.lowered_checked_(args, num_args)
        S_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not T.likely(S_type_index == 70):
            if not T.likely(S_type_index == 7):
                return Module.lowered_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 4, 15, T.handle().ty))):
            return Module.lowered_checked_(args, num_args)
        S_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 4, 15, T.handle().ty), T.Select(S_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", S_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", S_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        S_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 2, T.handle("int64", "global").ty)
        S_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(S_shape))):
            return Module.lowered_checked_(args, num_args)
        S_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(S_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(S_shape, 0, 17, "int64") ^ T.int64(4) == T.int64(0)):
            return Module.lowered_checked_(args, num_args)
        if T.likely(not T.isnullptr(S_strides)):
            if not T.likely(T.tvm_struct_get(S_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.lowered_checked_(args, num_args)
        if not T.likely((T.reinterpret("uint64", W_data) | T.reinterpret("uint64", H_data)) & T.uint64(1) | (T.reinterpret("uint64", C_data) | T.reinterpret("uint64", S_data)) & T.uint64(3) == T.uint64(0)):
            return Module.lowered_checked_(args, num_args)
        return Module.lowered_compute_(A_data, C_data, W_data, H_data, S_data)

    @T.prim_func
    def lowered_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def lowered_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 5, ("TypeError", ["Expected 5 arguments", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.lowered_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (C_type_index == 7) | (C_type_index == 70):
            return Module.lowered_expected_Tensor_(1, C_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        C_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(C_type_index == 70, T.int64(24), T.int64(0)))
        W_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (W_type_index == 7) | (W_type_index == 70):
            return Module.lowered_expected_Tensor_(2, W_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        W_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(W_type_index == 70, T.int64(24), T.int64(0)))
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not (H_type_index == 7) | (H_type_index == 70):
            return Module.lowered_expected_Tensor_(3, H_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 3, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 3, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        S_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not (S_type_index == 7) | (S_type_index == 70):
            return Module.lowered_expected_Tensor_(4, S_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 4, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        S_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 4, 15, T.handle().ty), T.Select(S_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int8, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(C_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched C.ndim on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(C_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(C_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched C.dtype on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(C_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(C_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched C.device_type on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(C_handle, 0, 10, "int32")])
        C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
        C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
        C_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(C_handle, 0, 8, "uint64")))
        assert not T.isnullptr(C_shape), ("ValueError", ["Mismatched C.shape on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(W_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched W.ndim on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(W_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(W_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got int", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got uint", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got float", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got bfloat", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched W.dtype on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected int16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(W_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(W_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched W.device_type on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(W_handle, 0, 10, "int32")])
        W_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 2, T.handle("int64", "global").ty)
        W_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 3, T.handle("int64", "global").ty)
        W_data: T.let[T.handle("int16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(W_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(W_handle, 0, 8, "uint64")))
        assert not T.isnullptr(W_shape), ("ValueError", ["Mismatched W.shape on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(H_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched H.ndim on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(H_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got int", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got uint", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got float", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got bfloat", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched H.dtype on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(H_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched H.device_type on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(H_handle, 0, 10, "int32")])
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        H_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        assert not T.isnullptr(H_shape), ("ValueError", ["Mismatched H.shape on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(S_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched S.ndim on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(S_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(S_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(S_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(S_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched S.dtype on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(S_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(S_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched S.device_type on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(S_handle, 0, 10, "int32")])
        S_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 2, T.handle("int64", "global").ty)
        S_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(S_handle, 0, 3, T.handle("int64", "global").ty)
        S_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(S_handle, 0, 8, "uint64")))
        assert not T.isnullptr(S_shape), ("ValueError", ["Mismatched S.shape on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(16), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 16, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(C_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid C.shape[0] on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 4, but got ", T.tvm_struct_get(C_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(W_shape, 0, 17, "int64") == T.int64(2), ("ValueError", ["Invalid W.shape[0] on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 2, but got ", T.tvm_struct_get(W_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(H_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid H.shape[0] on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 8, but got ", T.tvm_struct_get(H_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(S_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid S.shape[0] on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected 4, but got ", T.tvm_struct_get(S_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(C_strides):
            assert T.tvm_struct_get(C_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(C_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched C.strides on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is C.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(C_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(C_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched C.device_id on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(C_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(C_handle, 0, 1, T.handle().ty)), ("ValueError", ["C data pointer is NULL on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", C_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned C.data on argument #1", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", C_data) & T.uint64(3)])
        if not T.isnullptr(W_strides):
            assert T.tvm_struct_get(W_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(W_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched W.strides on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is W.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(W_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(W_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched W.device_id on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(W_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(W_handle, 0, 1, T.handle().ty)), ("ValueError", ["W data pointer is NULL on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", W_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned W.data on argument #2", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", W_data) & T.uint64(1)])
        if not T.isnullptr(H_strides):
            assert T.tvm_struct_get(H_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(H_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched H.strides on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is H.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(H_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(H_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched H.device_id on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(H_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty)), ("ValueError", ["H data pointer is NULL on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", H_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned H.data on argument #3", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", H_data) & T.uint64(1)])
        if not T.isnullptr(S_strides):
            assert T.tvm_struct_get(S_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(S_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched S.strides on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to be compact array, that is S.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(S_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(S_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched S.device_id on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(S_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(S_handle, 0, 1, T.handle().ty)), ("ValueError", ["S data pointer is NULL on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", S_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned S.data on argument #4", " when calling:\n  `", "lowered(A: Tensor([16], int8), C: Tensor([4], int32), W: Tensor([2], int16), H: Tensor([8], float16), S: Tensor([4], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", S_data) & T.uint64(3)])
        return Module.lowered_compute_(A_data, C_data, W_data, H_data, S_data)

    @T.prim_func
    def lowered_compute_(A: T.handle("int8", "global"), C: T.handle("int32", "global"), W: T.handle("int16", "global"), H: T.handle("float16", "global"), S: T.handle("float32", "global")) -> T.int32:
        a = T.int8x16()
        b = T.int8x16()
        a_1 = T.int16x2()
        b_1 = T.int16x2()
        a_2 = T.float16x8()
        b_2 = T.float16x8()
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(16),), "int8", data=A)
        C_1 = T.decl_buffer((T.int64(4),), "int32", data=C)
        W_1 = T.decl_buffer((T.int64(2),), "int16", data=W)
        H_1 = T.decl_buffer((T.int64(8),), "float16", data=H)
        S_1 = T.decl_buffer((T.int64(4),), data=S)
        C_1[T.int64(0):T.int64(4)] = T.Let(T.Let(C_1[T.Ramp(T.int64(0), T.int64(1), 4)] + T.Cast("int32x4", T.Shuffle([a], [0, 4, 8, 12])) * T.Cast("int32x4", T.Shuffle([b], [0, 4, 8, 12])) + T.Cast("int32x4", T.Shuffle([a], [1, 5, 9, 13])) * T.Cast("int32x4", T.Shuffle([b], [1, 5, 9, 13])) + T.Cast("int32x4", T.Shuffle([a], [2, 6, 10, 14])) * T.Cast("int32x4", T.Shuffle([b], [2, 6, 10, 14])) + T.Cast("int32x4", T.Shuffle([a], [3, 7, 11, 15])) * T.Cast("int32x4", T.Shuffle([b], [3, 7, 11, 15])), where={b: A_1[T.Ramp(T.int64(0), T.int64(1), 16)]}), where={a: A_1[T.Ramp(T.int64(0), T.int64(1), 16)]})
        C_1[T.int64(0)] = T.Let(T.Let(C_1[T.int64(1)] + T.Cast("int32", T.Shuffle([a_1], [0])) * T.Cast("int32", T.Shuffle([b_1], [0])) + T.Cast("int32", T.Shuffle([a_1], [1])) * T.Cast("int32", T.Shuffle([b_1], [1])), where={b_1: W_1[T.Ramp(T.int64(0), T.int64(1), 2)]}), where={a_1: W_1[T.Ramp(T.int64(0), T.int64(1), 2)]})
        S_1[T.int64(0):T.int64(4)] = T.Let(T.Let(S_1[T.Ramp(T.int64(0), T.int64(1), 4)] + T.Cast("float32x4", T.Shuffle([a_2], [0, 2, 4, 6])) * T.Cast("float32x4", T.Shuffle([b_2], [0, 2, 4, 6])) + T.Cast("float32x4", T.Shuffle([a_2], [1, 3, 5, 7])) * T.Cast("float32x4", T.Shuffle([b_2], [1, 3, 5, 7])), where={b_2: H_1[T.Ramp(T.int64(0), T.int64(1), 8)]}), where={a_2: H_1[T.Ramp(T.int64(0), T.int64(1), 8)]})
        return 0
