# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "int64"], "chipdock.signature": "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 3) & (not T.isnullptr(args))):
            return Module.kernel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734082) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.kernel_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) | T.tvm_struct_get(A_shape, 1, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.Cast("int64", m) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.kernel_checked_(args, num_args)
        B_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(32) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        least_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely((least_type_index == 1) | (least_type_index == 2)):
            return Module.kernel_checked_(args, num_args)
        least: T.let[T.int64] = T.tvm_struct_get(args, 2, 15, "int64")
        if not T.likely((T.reinterpret("uint64", A_data) | T.reinterpret("uint64", B_data)) & T.uint64(3) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(A_data, B_data, least, n, m)

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_expected_int_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 3, ("TypeError", ["Expected 3 arguments", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.kernel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.kernel_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        least_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (least_type_index == 1) | (least_type_index == 2):
            return Module.kernel_expected_int_(2, least_type_index)
        least: T.let[T.int64] = T.tvm_struct_get(args, 2, 15, "int64")
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(32), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected 32, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 1, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[1] on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected m between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.isnullptr(A_strides) and not (T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0)):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.Cast("int64", m), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected to be compact array, that is A.strides[0] = ", T.Cast("int64", m), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", B_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned B.data on argument #1", " when calling:\n  `", "kernel(A: Tensor([n, m], float32), B: Tensor([32], int32), least: int64)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", B_data) & T.uint64(3)])
        return Module.kernel_compute_(A_data, B_data, least, n, m)

    @T.prim_func
    def kernel_compute_region0_(first: T.int32, count: T.int32, m: T.int32, A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 2147483646)
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        for i in range(first_1, first_1 + T.min(count, 2147483647 - first_1)):
            for j in range(m):
                A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] + T.float32(1.0)
        return 0

    @T.prim_func
    def kernel_compute_task0_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        extent: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        each: T.let[T.int32] = T.truncdiv(extent, tasks_count)
        more: T.let[T.int32] = T.truncmod(extent, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 0, 15, "int64"))
        A: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 1, 15, T.handle("float32", "global").ty)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        return Module.kernel_compute_region0_(first, count, m, A, n)

    @T.prim_func
    def kernel_compute_region1_(first: T.int32, count: T.int32, m: T.int32, A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 2147483646)
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        for i in range(first_1, first_1 + T.min(count, 2147483647 - first_1)):
            for j in range(m):
                A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] * T.float32(2.0)
        return 0

    @T.prim_func
    def kernel_compute_task1_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        extent: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        each: T.let[T.int32] = T.truncdiv(extent, tasks_count)
        more: T.let[T.int32] = T.truncmod(extent, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 0, 15, "int64"))
        A: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 1, 15, T.handle("float32", "global").ty)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        return Module.kernel_compute_region1_(first, count, m, A, n)

    @T.prim_func
    def kernel_compute_region2_(first: T.int32, count: T.int32, B: T.handle("int32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 31)
        B_1 = T.decl_buffer((T.int64(32),), "int32", data=B)
        for i in range(first_1, first_1 + T.min(count, 32 - first_1)):
            B_1[T.Cast("int64", i)] = B_1[T.Cast("int64", i)] + 1
        return 0

    @T.prim_func
    def kernel_compute_task2_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(32, tasks_count)
        more: T.let[T.int32] = T.truncmod(32, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        B: T.let[T.handle("int32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("int32", "global").ty)
        return Module.kernel_compute_region2_(first, count, B)

    @T.prim_func
    def kernel_compute_region3_(first: T.int32, count: T.int32, B: T.handle("int32", "global"), i: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        i_1: T.let[T.int32] = T.min(T.max(i, 0), 1)
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 2147483646)
        B_1 = T.decl_buffer((T.int64(32),), "int32", data=B)
        for j in range(first_1, first_1 + T.min(count, 2147483647 - first_1)):
            B_1[T.Cast("int64", i_1) + T.Cast("int64", j)] = B_1[T.Cast("int64", i_1) + T.Cast("int64", j)] + j
        return 0

    @T.prim_func
    def kernel_compute_task3_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        extent: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        each: T.let[T.int32] = T.truncdiv(extent, tasks_count)
        more: T.let[T.int32] = T.truncmod(extent, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        B: T.let[T.handle("int32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("int32", "global").ty)
        i: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 1, 15, "int64"))
        return Module.kernel_compute_region3_(first, count, B, i)

    @T.prim_func
    def kernel_compute_(A: T.handle("float32", "global"), B: T.handle("int32", "global"), least: T.int64, n: T.int32, m: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        B_1 = T.decl_buffer((T.int64(32),), "int32", data=B)
        if n > 0:
            tasks: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.Cast("int64", n), T.int64(100)), T.int64(1)))
            if tasks == 1:
                if Module.kernel_compute_region0_(0, n, m, A, n) != 0:
                    T.tvm_throw_last_error()
            else:
                captured = T.alloc_buffer((T.int64(6),), "int64")
                T.tvm_struct_set(captured.data, 0, 15, T.Cast("int64", m))
                T.tvm_struct_set(captured.data, 1, 15, A)
                T.tvm_struct_set(captured.data, 2, 15, T.Cast("int64", n))
                if T.TVMBackendParallelLaunch("kernel_compute_task0_", captured.data, tasks) != 0:
                    T.tvm_throw_last_error()
        if n > 0:
            tasks: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.Cast("int64", n), T.max(T.Cast("int64", 6 // (m + 1)), T.int64(1))), T.int64(1)))
            if tasks == 1:
                if Module.kernel_compute_region1_(0, n, m, A, n) != 0:
                    T.tvm_throw_last_error()
            else:
                captured = T.alloc_buffer((T.int64(6),), "int64")
                T.tvm_struct_set(captured.data, 0, 15, T.Cast("int64", m))
                T.tvm_struct_set(captured.data, 1, 15, A)
                T.tvm_struct_set(captured.data, 2, 15, T.Cast("int64", n))
                if T.TVMBackendParallelLaunch("kernel_compute_task1_", captured.data, tasks) != 0:
                    T.tvm_throw_last_error()
        tasks: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.int64(32), T.max(least, T.int64(1))), T.int64(1)))
        if tasks == 1:
            if Module.kernel_compute_region2_(0, 32, B) != 0:
                T.tvm_throw_last_error()
        else:
            captured = T.alloc_buffer((T.int64(2),), "int64")
            T.tvm_struct_set(captured.data, 0, 15, B)
            if T.TVMBackendParallelLaunch("kernel_compute_task2_", captured.data, tasks) != 0:
                T.tvm_throw_last_error()
        for i in range(2):
            twice: T.let[T.int32] = i * 2 + n
            if n > 0:
                tasks_1: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.Cast("int64", n), T.max(T.Cast("int64", twice), T.int64(1))), T.int64(1)))
                if tasks_1 == 1:
                    if Module.kernel_compute_region3_(0, n, B, i) != 0:
                        T.tvm_throw_last_error()
                else:
                    captured = T.alloc_buffer((T.int64(6),), "int64")
                    T.tvm_struct_set(captured.data, 0, 15, B)
                    T.tvm_struct_set(captured.data, 1, 15, T.Cast("int64", i))
                    T.tvm_struct_set(captured.data, 2, 15, T.Cast("int64", n))
                    if T.TVMBackendParallelLaunch("kernel_compute_task3_", captured.data, tasks_1) != 0:
                        T.tvm_throw_last_error()
        return 0

    @T.prim_func
    def __tvm_ffi_constant(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "constant(A: Tensor([32], int32))", "chipdock.source_name": "constant", "global_symbol": "__tvm_ffi_constant", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.constant_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.constant_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.constant_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.constant_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.constant_checked_(args, num_args)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(32) == T.int64(0)):
            return Module.constant_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.constant_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.constant_checked_(args, num_args)
        return Module.constant_compute_(A_data)

    @T.prim_func
    def constant_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def constant_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.constant_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(32), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected 32, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "constant(A: Tensor([32], int32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.constant_compute_(A_data)

    @T.prim_func
    def constant_compute_region0_(first: T.int32, count: T.int32, A: T.handle("int32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 31)
        A_1 = T.decl_buffer((T.int64(32),), "int32", data=A)
        for i in range(first_1, first_1 + T.min(count, 32 - first_1)):
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] * 3
        return 0

    @T.prim_func
    def constant_compute_task0_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(32, tasks_count)
        more: T.let[T.int32] = T.truncmod(32, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        A: T.let[T.handle("int32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("int32", "global").ty)
        return Module.constant_compute_region0_(first, count, A)

    @T.prim_func
    def constant_compute_region1_(first: T.int32, count: T.int32, A: T.handle("int32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 31)
        A_1 = T.decl_buffer((T.int64(32),), "int32", data=A)
        for i in range(first_1, first_1 + T.min(count, 32 - first_1)):
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] - 1
        return 0

    @T.prim_func
    def constant_compute_task1_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(32, tasks_count)
        more: T.let[T.int32] = T.truncmod(32, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        A: T.let[T.handle("int32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("int32", "global").ty)
        return Module.constant_compute_region1_(first, count, A)

    @T.prim_func
    def constant_compute_(A: T.handle("int32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(32),), "int32", data=A)
        for i, j in T.grid(4, 8):
            A_1[T.Cast("int64", i) * T.int64(8) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.int64(8) + T.Cast("int64", j)] + i
        captured = T.alloc_buffer((T.int64(2),), "int64")
        T.tvm_struct_set(captured.data, 0, 15, A)
        if T.TVMBackendParallelLaunch("constant_compute_task0_", captured.data, 4) != 0:
            T.tvm_throw_last_error()
        captured_1 = T.alloc_buffer((T.int64(2),), "int64")
        T.tvm_struct_set(captured_1.data, 0, 15, A)
        if T.TVMBackendParallelLaunch("constant_compute_task1_", captured_1.data, 32) != 0:
            T.tvm_throw_last_error()
        return 0

    @T.prim_func
    def __tvm_ffi_blocks(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "blocks(A: Tensor([4, 32], int32))", "chipdock.source_name": "blocks", "global_symbol": "__tvm_ffi_blocks", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.blocks_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.blocks_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.blocks_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799490) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.blocks_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.blocks_checked_(args, num_args)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(4) | T.tvm_struct_get(A_shape, 1, 17, "int64") ^ T.int64(32) == T.int64(0)):
            return Module.blocks_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(32) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.blocks_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.blocks_checked_(args, num_args)
        return Module.blocks_compute_(A_data)

    @T.prim_func
    def blocks_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def blocks_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.blocks_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected 4, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(32), ("ValueError", ["Invalid A.shape[1] on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected 32, but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(32), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(32), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "blocks(A: Tensor([4, 32], int32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.blocks_compute_(A_data)

    @T.prim_func
    def blocks_compute_region0_(first: T.int32, count: T.int32, A: T.handle("int32", "global"), i: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        i_1: T.let[T.int32] = T.min(T.max(i, 0), 3)
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 31)
        A_1 = T.decl_buffer((T.int64(128),), "int32", data=A)
        for j in range(first_1, first_1 + T.min(count, 32 - first_1)):
            A_1[T.Cast("int64", i_1) * T.int64(32) + T.Cast("int64", j)] = A_1[T.Cast("int64", i_1) * T.int64(32) + T.Cast("int64", j)] + i_1
        return 0

    @T.prim_func
    def blocks_compute_task0_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(32, tasks_count)
        more: T.let[T.int32] = T.truncmod(32, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        A: T.let[T.handle("int32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("int32", "global").ty)
        i: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 1, 15, "int64"))
        return Module.blocks_compute_region0_(first, count, A, i)

    @T.prim_func
    def blocks_compute_(A: T.handle("int32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(128),), "int32", data=A)
        for i in range(4):
            tasks: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.int64(32), T.max(T.Cast("int64", i * 8 + 1), T.int64(1))), T.int64(1)))
            if tasks == 1:
                if Module.blocks_compute_region0_(0, 32, A, i) != 0:
                    T.tvm_throw_last_error()
            else:
                captured = T.alloc_buffer((T.int64(4),), "int64")
                T.tvm_struct_set(captured.data, 0, 15, A)
                T.tvm_struct_set(captured.data, 1, 15, T.Cast("int64", i))
                if T.TVMBackendParallelLaunch("blocks_compute_task0_", captured.data, tasks) != 0:
                    T.tvm_throw_last_error()
        return 0
