# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "handle"], "chipdock.signature": "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 3) & (not T.isnullptr(args))):
            return Module.kernel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
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
        U_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(U_type_index == 70):
            if not T.likely(U_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        U_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(U_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", U_handle, T.int64(16)) ^ T.int64(290275364700161) | T.handle_load("int64", U_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        U_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(U_handle, 0, 2, T.handle("int64", "global").ty)
        U_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(U_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(U_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(U_shape))):
            return Module.kernel_checked_(args, num_args)
        U_data: T.let[T.handle("uint8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(U_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(U_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(U_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(U_strides)):
            if not T.likely(T.tvm_struct_get(U_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        L_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(L_type_index == 70):
            if not T.likely(L_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        L_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(L_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", L_handle, T.int64(16)) ^ T.int64(351843720888321) | T.handle_load("int64", L_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        L_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(L_handle, 0, 2, T.handle("int64", "global").ty)
        L_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(L_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(L_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(L_shape))):
            return Module.kernel_checked_(args, num_args)
        L_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(L_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(L_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(L_shape, 0, 17, "int64") ^ T.int64(8) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(L_strides)):
            if not T.likely(T.tvm_struct_get(L_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) | T.reinterpret("uint64", L_data) & T.uint64(7) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(A_data, U_data, L_data)

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 3, ("TypeError", ["Expected 3 arguments", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.kernel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        U_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (U_type_index == 7) | (U_type_index == 70):
            return Module.kernel_expected_Tensor_(1, U_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a NULL pointer"])
        U_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(U_type_index == 70, T.int64(24), T.int64(0)))
        L_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (L_type_index == 7) | (L_type_index == 70):
            return Module.kernel_expected_Tensor_(2, L_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected Tensor, but got a NULL pointer"])
        L_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(L_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(U_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched U.ndim on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1, but got ", T.tvm_struct_get(U_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(U_handle, 0, 6, "uint8") == T.uint8(8) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got int", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got uint", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got float", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got bfloat", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(U_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(U_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched U.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected uint8, but got dtype code ", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(U_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(U_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched U.device_type on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(U_handle, 0, 10, "int32")])
        U_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(U_handle, 0, 2, T.handle("int64", "global").ty)
        U_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(U_handle, 0, 3, T.handle("int64", "global").ty)
        U_data: T.let[T.handle("uint8", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(U_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(U_handle, 0, 8, "uint64")))
        assert not T.isnullptr(U_shape), ("ValueError", ["Mismatched U.shape on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(L_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched L.ndim on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1, but got ", T.tvm_struct_get(L_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(L_handle, 0, 6, "uint8") == T.uint8(64) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got int", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got uint", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got float", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got bfloat", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(L_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(L_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched L.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected int64, but got dtype code ", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(L_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(L_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched L.device_type on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(L_handle, 0, 10, "int32")])
        L_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(L_handle, 0, 2, T.handle("int64", "global").ty)
        L_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(L_handle, 0, 3, T.handle("int64", "global").ty)
        L_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(L_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(L_handle, 0, 8, "uint64")))
        assert not T.isnullptr(L_shape), ("ValueError", ["Mismatched L.shape on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 8, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(U_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid U.shape[0] on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 8, but got ", T.tvm_struct_get(U_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(L_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid L.shape[0] on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected 8, but got ", T.tvm_struct_get(L_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(U_strides):
            assert T.tvm_struct_get(U_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(U_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched U.strides on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected to be compact array, that is U.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(U_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(U_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched U.device_id on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(U_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(U_handle, 0, 1, T.handle().ty)), ("ValueError", ["U data pointer is NULL on argument #1", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(L_strides):
            assert T.tvm_struct_get(L_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(L_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched L.strides on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected to be compact array, that is L.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(L_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(L_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched L.device_id on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(L_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(L_handle, 0, 1, T.handle().ty)), ("ValueError", ["L data pointer is NULL on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", L_data) & T.uint64(7) == T.uint64(0), ("ValueError", ["Misaligned L.data on argument #2", " when calling:\n  `", "kernel(A: Tensor([8], int32), U: Tensor([8], uint8), L: Tensor([8], int64))", "`,\n  expected data plus byte_offset to be a multiple of 8 bytes, but got one that is beyond by ", T.reinterpret("uint64", L_data) & T.uint64(7)])
        return Module.kernel_compute_(A_data, U_data, L_data)

    @T.prim_func
    def kernel_compute_(A: T.handle("int32", "global"), U: T.handle("uint8", "global"), L: T.handle("int64", "global")) -> T.int32:
        bits = T.uint32()
        pairs = T.uint32()
        fours = T.uint32()
        bits_1 = T.uint8()
        pairs_1 = T.uint8()
        fours_1 = T.uint8()
        spread = T.uint64()
        spread_1 = T.uint64()
        spread_2 = T.uint64()
        spread_3 = T.uint64()
        spread_4 = T.uint64()
        spread_5 = T.uint64()
        bits_2 = T.uint64()
        pairs_2 = T.uint64()
        fours_2 = T.uint64()
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(8),), "int32", data=A)
        U_1 = T.decl_buffer((T.int64(8),), "uint8", data=U)
        L_1 = T.decl_buffer((T.int64(8),), "int64", data=L)
        A_1[T.int64(0)] = T.Cast("int32", T.Let(T.Let(T.Let((fours + (fours >> T.uint32(4)) & T.uint32(252645135)) * T.uint32(16843009) >> T.uint32(24), where={fours: (pairs & T.uint32(858993459)) + (pairs >> T.uint32(2) & T.uint32(858993459))}), where={pairs: bits - (bits >> T.uint32(1) & T.uint32(1431655765))}), where={bits: T.Cast("uint32", A_1[T.int64(1)])}))
        U_1[T.int64(0)] = T.Let(T.Let(T.Let(fours_1 + (fours_1 >> T.uint8(4)) & T.uint8(15), where={fours_1: (pairs_1 & T.uint8(51)) + (pairs_1 >> T.uint8(2) & T.uint8(51))}), where={pairs_1: bits_1 - (bits_1 >> T.uint8(1) & T.uint8(85))}), where={bits_1: U_1[T.int64(1)]})
        A_1[T.int64(2)] = T.Let(T.Let(T.Let(T.Let(T.Let(T.Let(64 - T.Cast("int32", T.Let(T.Let(T.Let((fours_2 + (fours_2 >> T.uint64(4)) & T.uint64(1085102592571150095)) * T.uint64(72340172838076673) >> T.uint64(56), where={fours_2: (pairs_2 & T.uint64(3689348814741910323)) + (pairs_2 >> T.uint64(2) & T.uint64(3689348814741910323))}), where={pairs_2: bits_2 - (bits_2 >> T.uint64(1) & T.uint64(6148914691236517205))}), where={bits_2: spread_5 | spread_5 >> T.uint64(32)})), where={spread_5: spread_4 | spread_4 >> T.uint64(16)}), where={spread_4: spread_3 | spread_3 >> T.uint64(8)}), where={spread_3: spread_2 | spread_2 >> T.uint64(4)}), where={spread_2: spread_1 | spread_1 >> T.uint64(2)}), where={spread_1: spread | spread >> T.uint64(1)}), where={spread: T.Cast("uint64", L_1[T.int64(0)])})
        return 0
