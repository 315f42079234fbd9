# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "handle"], "chipdock.signature": "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 3) & (not T.isnullptr(args))):
            return Module.kernel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.kernel_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        D_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(D_type_index == 70):
            if not T.likely(D_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        D_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(D_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", D_handle, T.int64(16)) ^ T.int64(351852310822913) | T.handle_load("int64", D_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        D_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(D_handle, 0, 2, T.handle("int64", "global").ty)
        D_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(D_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(D_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(D_shape))):
            return Module.kernel_checked_(args, num_args)
        D_data: T.let[T.handle("float64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(D_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(D_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(D_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(D_strides)):
            if not T.likely(T.tvm_struct_get(D_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
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
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) | T.reinterpret("uint64", D_data) & T.uint64(7) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(A_data, D_data, B_data)

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 3, ("TypeError", ["Expected 3 arguments", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.kernel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        D_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (D_type_index == 7) | (D_type_index == 70):
            return Module.kernel_expected_Tensor_(1, D_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a NULL pointer"])
        D_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(D_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.kernel_expected_Tensor_(2, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(D_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched D.ndim on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1, but got ", T.tvm_struct_get(D_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(D_handle, 0, 6, "uint8") == T.uint8(64) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got int", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got uint", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got float", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got bfloat", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(D_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(D_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched D.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected float64, but got dtype code ", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(D_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(D_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched D.device_type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(D_handle, 0, 10, "int32")])
        D_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(D_handle, 0, 2, T.handle("int64", "global").ty)
        D_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(D_handle, 0, 3, T.handle("int64", "global").ty)
        D_data: T.let[T.handle("float64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(D_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(D_handle, 0, 8, "uint64")))
        assert not T.isnullptr(D_shape), ("ValueError", ["Mismatched D.shape on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected bool, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("bool", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 8, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(D_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid D.shape[0] on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 8, but got ", T.tvm_struct_get(D_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid B.shape[0] on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected 8, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(D_strides):
            assert T.tvm_struct_get(D_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(D_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched D.strides on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected to be compact array, that is D.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(D_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(D_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched D.device_id on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(D_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(D_handle, 0, 1, T.handle().ty)), ("ValueError", ["D data pointer is NULL on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", D_data) & T.uint64(7) == T.uint64(0), ("ValueError", ["Misaligned D.data on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected data plus byte_offset to be a multiple of 8 bytes, but got one that is beyond by ", T.reinterpret("uint64", D_data) & T.uint64(7)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], float32), D: Tensor([8], float64), B: Tensor([8], bool))", "`,\n  expected non-NULL data pointer"])
        return Module.kernel_compute_(A_data, D_data, B_data)

    @T.prim_func
    def kernel_compute_(A: T.handle("float32", "global"), D: T.handle("float64", "global"), B: T.handle("bool", "global")) -> T.int32:
        x = T.float32()
        clamped = T.float32()
        shifted = T.float32()
        whole = T.float32()
        high = T.float32()
        r = T.float32()
        both = T.uint32()
        half = T.uint32()
        x_1 = T.float32()
        a = T.float32()
        twice = T.float32()
        shifted_1 = T.float32()
        whole_1 = T.float32()
        high_1 = T.float32()
        r_1 = T.float32()
        near = T.float32()
        power = T.float32()
        above = T.float32()
        value = T.float32()
        x_2 = T.float32()
        clamped_1 = T.float32()
        shifted_2 = T.float32()
        whole_2 = T.float32()
        high_2 = T.float32()
        r_2 = T.float32()
        both_1 = T.uint32()
        half_1 = T.uint32()
        power_1 = T.float32()
        x_3 = T.float32()
        a_1 = T.float32()
        square = T.float32()
        power_2 = T.float32()
        power_3 = T.float32()
        power_4 = T.float32()
        value_1 = T.float32()
        x_4 = T.float32()
        clamped_2 = T.float32()
        shifted_3 = T.float32()
        whole_3 = T.float32()
        high_3 = T.float32()
        r_3 = T.float32()
        both_2 = T.uint32()
        half_2 = T.uint32()
        x_5 = T.float32()
        x_6 = T.float32()
        x_7 = T.float32()
        x_8 = T.float64()
        clamped_3 = T.float64()
        shifted_4 = T.float64()
        whole_4 = T.float64()
        high_4 = T.float64()
        r_4 = T.float64()
        half_3 = T.float64()
        other = T.float64()
        x_9 = T.float32x4()
        clamped_4 = T.float32x4()
        shifted_5 = T.float32x4()
        whole_5 = T.float32x4()
        high_5 = T.float32x4()
        r_5 = T.float32x4()
        both_3 = T.uint32x4()
        half_4 = T.uint32x4()
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(8),), data=A)
        D_1 = T.decl_buffer((T.int64(8),), "float64", data=D)
        B_1 = T.decl_buffer((T.int64(8),), "bool", data=B)
        A_1[T.int64(0)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let((T.float32(1.0) + r * (((((T.float32(0.0013843505) * r + T.float32(0.008374315)) * r + T.float32(0.041668013)) * r + T.float32(0.16666429)) * r + T.float32(0.49999994)) * r + T.float32(1.0))) * T.reinterpret("float32", half << T.uint32(23)) * T.reinterpret("float32", both - half << T.uint32(23)), where={half: both >> T.uint32(1)}), where={both: T.reinterpret("uint32", shifted)}), where={r: high - whole * T.float32(-0.00021219444)}), where={high: clamped - whole * T.float32(0.6933594)}), where={whole: shifted - T.float32(12583166.0)}), where={shifted: clamped * T.float32(1.442695) + T.float32(12583166.0)}), where={clamped: T.min(T.float32(89.0), T.max(T.float32(-104.0), x))}), where={x: A_1[T.int64(1)]})
        A_1[T.int64(1)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.reinterpret("float32", T.reinterpret("uint32", value) | T.reinterpret("uint32", x_1) & T.uint32(2147483648)), where={value: above / (above + T.float32(2.0))}), where={above: power * near + (power - T.float32(1.0))}), where={power: T.reinterpret("float32", T.reinterpret("uint32", shifted_1) << T.uint32(23))}), where={near: r_1 + r_1 * r_1 * ((((T.float32(0.0013882492) * r_1 + T.float32(0.008366646)) * r_1 + T.float32(0.041667204)) * r_1 + T.float32(0.16666542)) * r_1 + T.float32(0.49999997))}), where={r_1: high_1 - whole_1 * T.float32(-0.00021219444)}), where={high_1: twice - whole_1 * T.float32(0.6933594)}), where={whole_1: shifted_1 - T.float32(12583039.0)}), where={shifted_1: twice * T.float32(1.442695) + T.float32(12583039.0)}), where={twice: a + a}), where={a: T.min(T.float32(9.5), T.abs(x_1))}), where={x_1: A_1[T.int64(2)]})
        A_1[T.int64(2)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(power_1 / (T.float32(1.0) + power_1), where={power_1: (T.float32(1.0) + r_2 * (((((T.float32(0.0013843505) * r_2 + T.float32(0.008374315)) * r_2 + T.float32(0.041668013)) * r_2 + T.float32(0.16666429)) * r_2 + T.float32(0.49999994)) * r_2 + T.float32(1.0))) * T.reinterpret("float32", half_1 << T.uint32(23)) * T.reinterpret("float32", both_1 - half_1 << T.uint32(23))}), where={half_1: both_1 >> T.uint32(1)}), where={both_1: T.reinterpret("uint32", shifted_2)}), where={r_2: high_2 - whole_2 * T.float32(-0.00021219444)}), where={high_2: clamped_1 - whole_2 * T.float32(0.6933594)}), where={whole_2: shifted_2 - T.float32(12583166.0)}), where={shifted_2: clamped_1 * T.float32(1.442695) + T.float32(12583166.0)}), where={clamped_1: T.min(T.float32(40.0), T.max(T.float32(-104.0), x_2))}), where={x_2: A_1[T.int64(3)]})
        A_1[T.int64(3)] = T.float32(1.0) / T.sqrt(A_1[T.int64(4)]) + T.sqrt(A_1[T.int64(4)])
        A_1[T.int64(4)] = T.nearbyint(A_1[T.int64(5)])
        A_1[T.int64(5)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.reinterpret("float32", T.reinterpret("uint32", value_1) | T.reinterpret("uint32", x_3) & T.uint32(2147483648)), where={value_1: T.Select(a_1 < T.float32(1.25), a_1 + a_1 * (((((((T.float32(-7.572966e-6) * square + T.float32(0.00010393878)) * square + T.float32(-0.00083395705)) * square + T.float32(0.005209016)) * square + T.float32(-0.026860248)) * square + T.float32(0.11283675)) * square + T.float32(-0.3761263)) * square + T.float32(0.12837917)), T.float32(1.0) - power_4 * power_4)}), where={power_4: power_3 * power_3}), where={power_3: power_2 * power_2}), where={power_2: (((((T.float32(0.00017204168) * a_1 + T.float32(-0.0027149655)) * a_1 + T.float32(0.0140331)) * a_1 + T.float32(-0.013989955)) * a_1 + T.float32(-0.0580109)) * a_1 + T.float32(-0.14739802)) * a_1 + T.float32(1.0014905)}), where={square: a_1 * a_1}), where={a_1: T.min(T.float32(4.0), T.abs(x_3))}), where={x_3: A_1[T.int64(6)]}) + T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let((T.float32(1.0) + r_3 * ((((((T.float32(0.06836698) * r_3 + T.float32(0.20785017)) * r_3 + T.float32(0.5393778)) * r_3 + T.float32(1.1712439)) * r_3 + T.float32(2.0346787)) * r_3 + T.float32(2.650949)) * r_3 + T.float32(2.3025851))) * T.reinterpret("float32", half_2 << T.uint32(23)) * T.reinterpret("float32", both_2 - half_2 << T.uint32(23)), where={half_2: both_2 >> T.uint32(1)}), where={both_2: T.reinterpret("uint32", shifted_3)}), where={r_3: high_3 - whole_3 * T.float32(4.605039e-6)}), where={high_3: clamped_2 - whole_3 * T.float32(0.3010254)}), where={whole_3: shifted_3 - T.float32(12583166.0)}), where={shifted_3: clamped_2 * T.float32(3.321928) + T.float32(12583166.0)}), where={clamped_2: T.min(T.float32(39.0), T.max(T.float32(-46.0), x_4))}), where={x_4: A_1[T.int64(6)]})
        B_1[T.int64(0)] = T.Let(x_5 != x_5, where={x_5: A_1[T.int64(0)]})
        B_1[T.int64(1)] = T.Let(T.abs(x_6) == T.float32("inf"), where={x_6: A_1[T.int64(0)]})
        B_1[T.int64(2)] = T.Let(T.abs(x_7) < T.float32("inf"), where={x_7: A_1[T.int64(0)]})
        D_1[T.int64(0)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let((T.float64(1.0) + (r_4 + r_4 * r_4 * ((((((((((T.float64(2.092167017912071e-9) * r_4 + T.float64(2.5105314116534945e-8)) * r_4 + T.float64(2.7557252673292366e-7)) * r_4 + T.float64(2.7557255166245233e-6)) * r_4 + T.float64(2.4801587347587177e-5)) * r_4 + T.float64(0.0001984126987500567)) * r_4 + T.float64(0.0013888888888874294)) * r_4 + T.float64(0.008333333333326082)) * r_4 + T.float64(0.041666666666666685)) * r_4 + T.float64(0.1666666666666667)) * r_4 + T.float64(0.5)))) * T.reinterpret("float64", (T.reinterpret("uint64", half_3) << T.uint64(52)) + T.uint64(4607182418800017408)) * T.reinterpret("float64", (T.reinterpret("uint64", other) << T.uint64(52)) + T.uint64(4607182418800017408)), where={other: whole_4 - (half_3 - T.float64(6755399441055744.0)) + T.float64(6755399441055744.0)}), where={half_3: whole_4 * T.float64(0.5) + T.float64(6755399441055744.0)}), where={r_4: high_4 - whole_4 * T.float64(1.9082149292705877e-10)}), where={high_4: clamped_3 - whole_4 * T.float64(0.6931471803691238)}), where={whole_4: shifted_4 - T.float64(6755399441055744.0)}), where={shifted_4: clamped_3 * T.float64(1.4426950408889634) + T.float64(6755399441055744.0)}), where={clamped_3: T.min(T.float64(710.0), T.max(T.float64(-746.0), x_8))}), where={x_8: D_1[T.int64(1)]}) + T.call_pure_extern("float64", "pow", D_1[T.int64(1)], D_1[T.int64(2)])
        A_1[T.int64(0):T.int64(4)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(T.Let((T.Broadcast(T.float32(1.0), 4) + r_5 * (((((T.Broadcast(T.float32(0.0013843505), 4) * r_5 + T.Broadcast(T.float32(0.008374315), 4)) * r_5 + T.Broadcast(T.float32(0.041668013), 4)) * r_5 + T.Broadcast(T.float32(0.16666429), 4)) * r_5 + T.Broadcast(T.float32(0.49999994), 4)) * r_5 + T.Broadcast(T.float32(1.0), 4))) * T.reinterpret("float32x4", half_4 << T.Broadcast(T.uint32(23), 4)) * T.reinterpret("float32x4", both_3 - half_4 << T.Broadcast(T.uint32(23), 4)), where={half_4: both_3 >> T.Broadcast(T.uint32(1), 4)}), where={both_3: T.reinterpret("uint32x4", shifted_5)}), where={r_5: high_5 - whole_5 * T.Broadcast(T.float32(-0.00021219444), 4)}), where={high_5: clamped_4 - whole_5 * T.Broadcast(T.float32(0.6933594), 4)}), where={whole_5: shifted_5 - T.Broadcast(T.float32(12583166.0), 4)}), where={shifted_5: clamped_4 * T.Broadcast(T.float32(1.442695), 4) + T.Broadcast(T.float32(12583166.0), 4)}), where={clamped_4: T.min(T.Broadcast(T.float32(89.0), 4), T.max(T.Broadcast(T.float32(-104.0), 4), x_9))}), where={x_9: A_1[T.Ramp(T.int64(0), T.int64(1), 4)]})
        return 0
