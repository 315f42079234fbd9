# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle"], "chipdock.signature": "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 2) & (not T.isnullptr(args))):
            return Module.kernel_checked_(args, num_args)
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(H_type_index == 70):
            if not T.likely(H_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", H_handle, T.int64(16)) ^ T.int64(299075752689665) | T.handle_load("int64", H_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(H_shape))):
            return Module.kernel_checked_(args, num_args)
        H_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(H_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(H_strides)):
            if not T.likely(T.tvm_struct_get(H_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(290296839536641) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.kernel_checked_(args, num_args)
        B_data: T.let[T.handle("bool", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", H_data) & T.uint64(1) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(H_data, B_data)

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 2, ("TypeError", ["Expected 2 arguments", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected a non-NULL pointer"])
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (H_type_index == 7) | (H_type_index == 70):
            return Module.kernel_expected_Tensor_(0, H_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a NULL pointer"])
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.kernel_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(H_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched H.ndim on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 1, but got ", T.tvm_struct_get(H_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got int", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got uint", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got float", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got bfloat", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched H.dtype on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected float16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(H_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched H.device_type on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(H_handle, 0, 10, "int32")])
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        H_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        assert not T.isnullptr(H_shape), ("ValueError", ["Mismatched H.shape on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected bool, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("bool", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(H_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid H.shape[0] on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 8, but got ", T.tvm_struct_get(H_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected 8, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        if not T.isnullptr(H_strides):
            assert T.tvm_struct_get(H_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(H_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched H.strides on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected to be compact array, that is H.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(H_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty)), ("ValueError", ["H data pointer is NULL on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", H_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned H.data on argument #0", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", H_data) & T.uint64(1)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(H_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected to match H.device_id (", T.tvm_struct_get(H_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "kernel(H: Tensor([8], float16), B: Tensor([8], bool))", "`,\n  expected non-NULL data pointer"])
        return Module.kernel_compute_(H_data, B_data)

    @T.prim_func
    def kernel_compute_(H: T.handle("float16", "global"), B: T.handle("bool", "global")) -> T.int32:
        x = T.float32()
        clamped = T.float32()
        shifted = T.float32()
        whole = T.float32()
        high = T.float32()
        r = T.float32()
        both = T.uint32()
        half = T.uint32()
        x_1 = T.float16()
        y = T.float16()
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        H_1 = T.decl_buffer((T.int64(8),), "float16", data=H)
        B_1 = T.decl_buffer((T.int64(8),), "bool", data=B)
        H_1[T.int64(0)] = T.Cast("float16", T.Cast("float32", H_1[T.int64(1)]) + T.Cast("float32", T.Cast("float16", T.Cast("float32", H_1[T.int64(2)]) * T.Cast("float32", H_1[T.int64(3)]))))
        H_1[T.int64(1)] = T.Cast("float16", T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let((T.float32(1.0) + r * (((((T.float32(0.0013843505) * r + T.float32(0.008374315)) * r + T.float32(0.041668013)) * r + T.float32(0.16666429)) * r + T.float32(0.49999994)) * r + T.float32(1.0))) * T.reinterpret("float32", half << T.uint32(23)) * T.reinterpret("float32", both - half << T.uint32(23)), where={half: both >> T.uint32(1)}), where={both: T.reinterpret("uint32", shifted)}), where={r: high - whole * T.float32(-0.00021219444)}), where={high: clamped - whole * T.float32(0.6933594)}), where={whole: shifted - T.float32(12583166.0)}), where={shifted: clamped * T.float32(1.442695) + T.float32(12583166.0)}), where={clamped: T.min(T.float32(89.0), T.max(T.float32(-104.0), x))}), where={x: T.Cast("float32", H_1[T.int64(2)])}))
        H_1[T.int64(2)] = T.Cast("float16", T.sqrt(T.Cast("float32", H_1[T.int64(3)])))
        H_1[T.int64(3)] = T.Cast("float16", T.max(T.Cast("float32", H_1[T.int64(4)]), T.Cast("float32", T.float16(0.0))))
        B_1[T.int64(0)] = T.Cast("float32", H_1[T.int64(0)]) < T.Cast("float32", H_1[T.int64(1)])
        H_1[T.int64(4)] = T.Let(T.Let(T.Select(T.Cast("float32", x_1) != T.Cast("float32", x_1), T.Cast("float16", T.Cast("float32", x_1) + T.Cast("float32", y)), T.Select(T.Cast("float32", y) != T.Cast("float32", y), T.Cast("float16", T.Cast("float32", x_1) + T.Cast("float32", y)), T.Select(T.Cast("float32", x_1) == T.Cast("float32", y), y, T.reinterpret("float16", T.Select(T.Cast("float32", x_1) == T.float32(0.0), (T.reinterpret("uint16", y) & T.uint16(32768)) + T.uint16(1), T.Select(T.float32(0.0) < T.Cast("float32", x_1), T.Select(T.Cast("float32", x_1) < T.Cast("float32", y), T.reinterpret("uint16", x_1) + T.uint16(1), T.reinterpret("uint16", x_1) - T.uint16(1)), T.Select(T.Cast("float32", x_1) < T.Cast("float32", y), T.reinterpret("uint16", x_1) - T.uint16(1), T.reinterpret("uint16", x_1) + T.uint16(1)))))))), where={y: H_1[T.int64(6)]}), where={x_1: H_1[T.int64(5)]})
        return 0
