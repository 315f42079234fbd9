# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle"], "chipdock.signature": "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel"})
        if not T.likely((num_args == 2) & (not T.isnullptr(args))):
            return Module.kernel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(2) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.kernel_checked_(args, num_args)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(2) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.kernel_checked_(args, num_args)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        if not T.likely((T.reinterpret("uint64", A_data) | T.reinterpret("uint64", B_data)) & T.uint64(3) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(A_data, B_data, T.tvm_struct_get(A_handle, 0, 9, "int32"))

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True})
        assert num_args == 2, ("TypeError", ["Expected 2 arguments", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.kernel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.kernel_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 2, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected device (device type 2), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 2, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected device (device type 2), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 8, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected 8, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", B_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned B.data on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), B: Tensor([8], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", B_data) & T.uint64(3)])
        return Module.kernel_compute_(A_data, B_data, T.tvm_struct_get(A_handle, 0, 9, "int32"))

    @T.prim_func
    def kernel_compute_(A: T.handle("int32", "global"), B: T.handle("float32", "global"), device_id: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}, "chipdock.no_inline": True})
        if T.call_extern("int32", "chipdock_set_device", 2, device_id) != 0:
            T.tvm_throw_last_error()
        A_1 = T.decl_buffer((8,), "int32", data=A)
        B_1 = T.decl_buffer((8,), data=B)
        packed = T.alloc_buffer((T.int64(8),), "int64")
        T.tvm_struct_set(packed.data, 0, 13, T.Select(T.isnullptr(A), 0, 4))
        T.tvm_struct_set(packed.data, 0, 14, T.uint32(0))
        T.tvm_struct_set(packed.data, 0, 15, A)
        T.tvm_struct_set(packed.data, 1, 13, T.Select(T.isnullptr(B), 0, 4))
        T.tvm_struct_set(packed.data, 1, 14, T.uint32(0))
        T.tvm_struct_set(packed.data, 1, 15, B)
        T.tvm_struct_set(packed.data, 2, 13, 1)
        T.tvm_struct_set(packed.data, 2, 14, T.uint32(0))
        T.tvm_struct_set(packed.data, 2, 15, T.int64(1))
        T.tvm_struct_set(packed.data, 3, 13, 0)
        T.tvm_struct_set(packed.data, 3, 14, T.uint32(0))
        T.tvm_struct_set(packed.data, 3, 15, T.int64(0))
        if T.tvm_call_packed("kernel_kernel", packed.data, 3) != 0:
            T.tvm_throw_last_error()
        return 0

    @T.prim_func
    def __tvm_ffi_kernel_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle"], "chipdock.signature": "kernel_kernel(A: handle, B: handle)", "chipdock.source_name": "kernel_kernel", "global_symbol": "__tvm_ffi_kernel_kernel", "target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        if not T.likely((num_args == 2) & (not T.isnullptr(args))):
            return Module.kernel_kernel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely((A_type_index == 0) | (A_type_index == 4)):
            return Module.kernel_kernel_checked_(args, num_args)
        A: T.let[T.handle("int32", "global")] = T.tvm_struct_get(args, 0, 15, T.handle("int32", "global").ty)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely((B_type_index == 0) | (B_type_index == 4)):
            return Module.kernel_kernel_checked_(args, num_args)
        B: T.let[T.handle("float32", "global")] = T.tvm_struct_get(args, 1, 15, T.handle("float32", "global").ty)
        return Module.kernel_kernel_compute_(A, B)

    @T.prim_func
    def kernel_kernel_expected_pointer_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got float"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected pointer, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        assert num_args == 2, ("TypeError", ["Expected 2 arguments", " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel_kernel(A: handle, B: handle)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 0) | (A_type_index == 4):
            return Module.kernel_kernel_expected_pointer_(0, A_type_index)
        A: T.let[T.handle("int32", "global")] = T.tvm_struct_get(args, 0, 15, T.handle("int32", "global").ty)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 0) | (B_type_index == 4):
            return Module.kernel_kernel_expected_pointer_(1, B_type_index)
        B: T.let[T.handle("float32", "global")] = T.tvm_struct_get(args, 1, 15, T.handle("float32", "global").ty)
        return Module.kernel_kernel_compute_(A, B)

    @T.prim_func
    def kernel_kernel_compute_(A: T.handle("int32", "global"), B: T.handle("float32", "global")) -> T.int32:
        x = T.int32()
        x_1 = T.int32()
        low = T.uint32()
        high = T.uint32()
        right = T.int32()
        low_1 = T.uint32()
        high_1 = T.uint32()
        a = T.uint32()
        a_1 = T.uint32()
        b = T.uint32()
        b_1 = T.uint32()
        first = T.uint32()
        second = T.uint32()
        upper = T.uint32()
        high_2 = T.uint32()
        low_2 = T.uint32()
        count = T.uint32()
        is_long = T.bool()
        count_1 = T.uint32()
        low_3 = T.uint32()
        word = T.uint32()
        high_3 = T.uint32()
        low_4 = T.uint32()
        low_5 = T.uint32()
        high_4 = T.uint32()
        low_6 = T.uint32()
        high_5 = T.uint32()
        count_2 = T.uint32()
        is_long_1 = T.bool()
        count_3 = T.uint32()
        signed = T.int32()
        moved = T.uint32()
        low_7 = T.uint32()
        x_2 = T.int32()
        x_3 = T.int32()
        low_8 = T.uint32()
        high_6 = T.uint32()
        count_4 = T.uint32()
        is_long_2 = T.bool()
        count_5 = T.uint32()
        low_9 = T.uint32()
        word_1 = T.uint32()
        high_7 = T.uint32()
        low_10 = T.uint32()
        low_11 = T.uint32()
        high_8 = T.uint32()
        a_2 = T.uint32()
        a_3 = T.uint32()
        b_2 = T.uint32()
        b_3 = T.uint32()
        first_1 = T.uint32()
        second_1 = T.uint32()
        upper_1 = T.uint32()
        high_9 = T.uint32()
        low_12 = T.uint32()
        count_6 = T.uint32()
        is_long_3 = T.bool()
        count_7 = T.uint32()
        low_13 = T.uint32()
        word_2 = T.uint32()
        high_10 = T.uint32()
        low_14 = T.uint32()
        low_15 = T.uint32()
        high_11 = T.uint32()
        low_16 = T.uint32()
        high_12 = T.uint32()
        count_8 = T.uint32()
        is_long_4 = T.bool()
        count_9 = T.uint32()
        signed_1 = T.int32()
        moved_1 = T.uint32()
        low_17 = T.uint32()
        x_4 = T.float32()
        clamped = T.float32()
        whole = T.float32()
        high_13 = T.float32()
        r = T.float32()
        n = T.int32()
        half = T.int32()
        x_5 = T.float32()
        normal = T.float32()
        moved_2 = T.uint32()
        k = T.float32()
        f = T.float32()
        half_1 = T.float32()
        quotient = T.float32()
        z = T.float32()
        rest = T.float32()
        high_14 = T.float32()
        low_18 = T.float32()
        product = T.float32()
        x_6 = T.float32()
        n_1 = T.int32()
        last = T.int32()
        others = T.int32()
        second_2 = T.int32()
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.kernel_launch_params": ["blockIdx.x"]})
        A_1 = T.decl_buffer((8,), "int32", data=A)
        B_1 = T.decl_buffer((8,), data=B)
        with T.launch_thread("blockIdx.x", 1) as blockIdx_x:
            A_1[0] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Cast("int32", low_7), where={low_7: T.Select(is_long_1, moved, low_6 >> count_3 | high_5 << T.uint32(1) << T.uint32(31) - count_3)}), where={moved: T.Cast("uint32", signed >> T.Cast("int32", count_3))}), where={signed: T.Cast("int32", high_5)}), where={count_3: count_2 & T.uint32(31)}), where={is_long_1: count_2 & T.uint32(32) != T.uint32(0)}), where={count_2: T.Cast("uint32", right)}), where={high_5: high_2 + high_4 + T.Select(low_6 < low_2, T.uint32(1), T.uint32(0))}), where={low_6: low_2 + low_5}), where={high_4: high_3 >> T.uint32(1)}), where={low_5: low_4 >> T.uint32(1) | high_3 << T.uint32(31)}), where={low_4: T.Select(is_long, T.uint32(0), low_3)}), where={high_3: T.Select(is_long, low_3, word)}), where={word: T.uint32(0) << count_1 | T.shift_right(T.uint32(1), T.uint32(1)) >> T.uint32(31) - count_1}), where={low_3: T.uint32(1) << count_1}), where={count_1: count & T.uint32(31)}), where={is_long: count & T.uint32(32) != T.uint32(0)}), where={count: T.Cast("uint32", right)}), where={low_2: low * low_1}), where={high_2: low * high_1 + high * low_1 + upper}), where={upper: a_1 * b_1 + (first >> T.uint32(16)) + (second >> T.uint32(16))}), where={second: a_1 * b + (first & T.uint32(65535))}), where={first: a * b_1 + (a * b >> T.uint32(16))}), where={b_1: low_1 >> T.uint32(16)}), where={b: low_1 & T.uint32(65535)}), where={a_1: low >> T.uint32(16)}), where={a: low & T.uint32(65535)}), where={high_1: T.Select(x_1 < 0, T.uint32(4294967295), T.uint32(0))}), where={low_1: T.Cast("uint32", x_1)}), where={right: 31 + T.Select(T.LT(-3, 0), T.Sub(0, -3), 0)}), where={high: T.Select(x < 0, T.uint32(4294967295), T.uint32(0))}), where={low: T.Cast("uint32", x)}), where={x_1: A_1[2]}), where={x: A_1[1]})
            A_1[1] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Cast("int32", low_17), where={low_17: T.Select(is_long_4, moved_1, low_16 >> count_9 | high_12 << T.uint32(1) << T.uint32(31) - count_9)}), where={moved_1: T.Cast("uint32", signed_1 >> T.Cast("int32", count_9))}), where={signed_1: T.Cast("int32", high_12)}), where={count_9: count_8 & T.uint32(31)}), where={is_long_4: count_8 & T.uint32(32) != T.uint32(0)}), where={count_8: T.Cast("uint32", 31)}), where={high_12: high_9 + high_11 + T.Select(low_16 < low_12, T.uint32(1), T.uint32(0))}), where={low_16: low_12 + low_15}), where={high_11: high_10 >> T.uint32(1)}), where={low_15: low_14 >> T.uint32(1) | high_10 << T.uint32(31)}), where={low_14: T.Select(is_long_3, T.uint32(0), low_13)}), where={high_10: T.Select(is_long_3, low_13, word_2)}), where={word_2: T.uint32(0) << count_7 | T.shift_right(T.uint32(1), T.uint32(1)) >> T.uint32(31) - count_7}), where={low_13: T.uint32(1) << count_7}), where={count_7: count_6 & T.uint32(31)}), where={is_long_3: count_6 & T.uint32(32) != T.uint32(0)}), where={count_6: T.Cast("uint32", 31)}), where={low_12: low_10 * low_11}), where={high_9: low_10 * high_8 + high_7 * low_11 + upper_1}), where={upper_1: a_3 * b_3 + (first_1 >> T.uint32(16)) + (second_1 >> T.uint32(16))}), where={second_1: a_3 * b_2 + (first_1 & T.uint32(65535))}), where={first_1: a_2 * b_3 + (a_2 * b_2 >> T.uint32(16))}), where={b_3: low_11 >> T.uint32(16)}), where={b_2: low_11 & T.uint32(65535)}), where={a_3: low_10 >> T.uint32(16)}), where={a_2: low_10 & T.uint32(65535)}), where={high_8: T.Select(x_3 < 0, T.uint32(4294967295), T.uint32(0))}), where={low_11: T.Cast("uint32", x_3)}), where={low_10: T.Select(is_long_2, T.uint32(0), low_9)}), where={high_7: T.Select(is_long_2, low_9, word_1)}), where={word_1: high_6 << count_5 | low_8 >> T.uint32(1) >> T.uint32(31) - count_5}), where={low_9: low_8 << count_5}), where={count_5: count_4 & T.uint32(31)}), where={is_long_2: count_4 & T.uint32(32) != T.uint32(0)}), where={count_4: T.Cast("uint32", A_1[5])}), where={high_6: T.Select(x_2 < 0, T.uint32(4294967295), T.uint32(0))}), where={low_8: T.Cast("uint32", x_2)}), where={x_3: A_1[4]}), where={x_2: A_1[3]})
            B_1[0] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(((((((T.float32(0.00019875691) * r + T.float32(0.0013982)) * r + T.float32(0.008333452)) * r + T.float32(0.041665796)) * r + T.float32(0.16666666)) * r + T.float32(0.5)) * (r * r) + r + T.float32(1.0)) * T.reinterpret("float32", half + 127 << 23) * T.reinterpret("float32", n - half + 127 << 23), where={half: n >> 1}), where={n: T.Cast("int32", whole)}), where={r: high_13 - whole * T.float32(-0.00021219444)}), where={high_13: clamped - whole * T.float32(0.6933594)}), where={whole: T.nearbyint(clamped * T.float32(1.442695))}), where={clamped: T.min(T.float32(89.0), T.max(T.float32(-104.0), x_4))}), where={x_4: B_1[1]})
            B_1[1] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Select(T.float32(0.0) < x_5, T.Select(x_5 < T.float32("inf"), (low_18 + high_14) * T.float32(-0.00017605285) + low_18 * T.float32(1.4428711) + product + k, x_5), T.Select(x_5 == T.float32(0.0), T.float32("-inf"), T.float32("nan"))), where={product: high_14 * T.float32(1.4428711)}), where={low_18: f - high_14 - half_1 + rest}), where={high_14: T.reinterpret("float32", T.reinterpret("uint32", f - half_1) & T.uint32(4294963200))}), where={rest: quotient * (half_1 + z * (((T.float32(0.23579088) * z + T.float32(0.28537494)) * z + T.float32(0.4000033)) * z + T.float32(0.6666666)))}), where={z: quotient * quotient}), where={quotient: f / (f + T.float32(2.0))}), where={half_1: T.float32(0.5) * f * f}), where={f: T.reinterpret("float32", (moved_2 & T.uint32(8388607)) + T.uint32(1060439283)) - T.float32(1.0)}), where={k: T.Cast("float32", T.Cast("int32", moved_2 >> T.uint32(23)) - T.Select(x_5 < T.float32(1.1754944e-38), 152, 127))}), where={moved_2: T.reinterpret("uint32", normal) + T.uint32(4913933)}), where={normal: T.Select(x_5 < T.float32(1.1754944e-38), x_5 * T.float32(33554432.0), x_5)}), where={x_5: B_1[2]})
            B_1[2] = T.Let(T.Let(T.Let(T.Let(T.Let(x_6 * T.reinterpret("float32", others - second_2 + 127 << 23) * T.reinterpret("float32", second_2 + 127 << 23) * T.reinterpret("float32", last + 127 << 23), where={second_2: T.min(T.max(others, -126), 127)}), where={others: n_1 - last}), where={last: T.min(T.max(n_1, -126), 127)}), where={n_1: T.min(T.max(A_1[2], -290), 290)}), where={x_6: B_1[3]})
        return 0
