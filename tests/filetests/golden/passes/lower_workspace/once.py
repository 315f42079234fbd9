# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_once(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "int32"], "chipdock.signature": "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "chipdock.source_name": "once", "global_symbol": "__tvm_ffi_once", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 3) & (not T.isnullptr(args))):
            return Module.once_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.once_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.once_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.once_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.once_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(512) == T.int64(0)):
            return Module.once_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.once_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.once_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.once_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.once_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.once_checked_(args, num_args)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(512) == T.int64(0)):
            return Module.once_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.once_checked_(args, num_args)
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(((n_type_index == 1) | (n_type_index == 2)) & (T.Cast("uint64", T.tvm_struct_get(args, 2, 15, "int64") + T.int64(2147483648)) <= T.uint64(4294967295))):
            return Module.once_checked_(args, num_args)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 2, 15, "int64"))
        if not T.likely((T.reinterpret("uint64", A_data) | T.reinterpret("uint64", B_data)) & T.uint64(3) == T.uint64(0)):
            return Module.once_checked_(args, num_args)
        return Module.once_compute_(A_data, B_data, n)

    @T.prim_func
    def once_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def once_expected_int_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def once_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 3, ("TypeError", ["Expected 3 arguments", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.once_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.once_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (n_type_index == 1) | (n_type_index == 2):
            return Module.once_expected_int_(2, n_type_index)
        assert T.Cast("uint64", T.tvm_struct_get(args, 2, 15, "int64") + T.int64(2147483648)) <= T.uint64(4294967295), ("ValueError", ["Invalid n on argument #2", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected int32 between -2147483648 and 2147483647, but got ", T.tvm_struct_get(args, 2, 15, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 2, 15, "int64"))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(512), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 512, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(512), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected 512, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", B_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned B.data on argument #1", " when calling:\n  `", "once(A: Tensor([512], float32), B: Tensor([512], float32), n: int32)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", B_data) & T.uint64(3)])
        return Module.once_compute_(A_data, B_data, n)

    @T.prim_func
    def once_compute_(A: T.handle("float32", "global"), B: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(512),), data=A)
        B_1 = T.decl_buffer((T.int64(512),), data=B)
        E = T.decl_buffer((T.Cast("int64", n),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n), T.int64(1))) * T.uint64(4)))
        if T.isnullptr(E.data):
            T.tvm_throw_last_error()
        F = T.decl_buffer((T.Cast("int64", n + 7),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n + 7), T.int64(1))) * T.uint64(4)))
        if T.isnullptr(F.data):
            T.TVMBackendFreeWorkspace(1, 0, E.data)
            T.tvm_throw_last_error()
        for i in range(n):
            E[T.int64(0)] = A_1[T.int64(0)]
            E[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
            for j in range(n):
                F[T.Cast("int64", j)] = E[T.Cast("int64", i)]
                B_1[T.Cast("int64", i)] = F[T.Cast("int64", j)]
        if T.TVMBackendFreeWorkspace(1, 0, F.data) != 0:
            T.TVMBackendFreeWorkspace(1, 0, E.data)
            T.tvm_throw_last_error()
        if T.TVMBackendFreeWorkspace(1, 0, E.data) != 0:
            T.tvm_throw_last_error()
        for i in range(n):
            G = T.decl_buffer((T.Cast("int64", n * 2),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n * 2), T.int64(1))) * T.uint64(4)))
            if T.isnullptr(G.data):
                T.tvm_throw_last_error()
            for j in range(n):
                G[T.Cast("int64", j)] = A_1[T.Cast("int64", i)]
                B_1[T.Cast("int64", j)] = G[T.Cast("int64", j)]
            if T.TVMBackendFreeWorkspace(1, 0, G.data) != 0:
                T.tvm_throw_last_error()
            H = T.decl_buffer((T.Cast("int64", n * 3),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n * 3), T.int64(1))) * T.uint64(4)))
            if T.isnullptr(H.data):
                T.tvm_throw_last_error()
            for j in range(n):
                H[T.Cast("int64", j)] = A_1[T.Cast("int64", i)]
                B_1[T.Cast("int64", j)] = H[T.Cast("int64", j)]
            if T.TVMBackendFreeWorkspace(1, 0, H.data) != 0:
                T.tvm_throw_last_error()
        for i in range(n):
            K = T.decl_buffer((T.Cast("int64", i + 1),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", i + 1), T.int64(1))) * T.uint64(4)))
            if T.isnullptr(K.data):
                T.tvm_throw_last_error()
            K[T.int64(0)] = A_1[T.int64(0)]
            K[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
            B_1[T.Cast("int64", i)] = K[T.Cast("int64", i)]
            if A_1[T.Cast("int64", i)] > T.float32(0.0):
                L = T.decl_buffer((T.Cast("int64", n * 4),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n * 4), T.int64(1))) * T.uint64(4)))
                if T.isnullptr(L.data):
                    T.TVMBackendFreeWorkspace(1, 0, K.data)
                    T.tvm_throw_last_error()
                L[T.int64(0)] = A_1[T.int64(0)]
                L[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
                B_1[T.Cast("int64", i)] = L[T.Cast("int64", i)]
                if T.TVMBackendFreeWorkspace(1, 0, L.data) != 0:
                    T.TVMBackendFreeWorkspace(1, 0, K.data)
                    T.tvm_throw_last_error()
            M = T.decl_buffer((T.Cast("int64", n * 5),), data=T.TVMBackendAllocWorkspace(1, 0, T.Cast("uint64", T.max(T.Cast("int64", n * 5), T.int64(1))) * T.uint64(4)))
            if T.isnullptr(M.data):
                T.TVMBackendFreeWorkspace(1, 0, K.data)
                T.tvm_throw_last_error()
            M[T.int64(0)] = A_1[T.int64(0)]
            M[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
            B_1[T.Cast("int64", i)] = M[T.Cast("int64", i)]
            if T.TVMBackendFreeWorkspace(1, 0, M.data) != 0:
                T.TVMBackendFreeWorkspace(1, 0, K.data)
                T.tvm_throw_last_error()
            if T.TVMBackendFreeWorkspace(1, 0, K.data) != 0:
                T.tvm_throw_last_error()
        return 0
