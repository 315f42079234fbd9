# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_top(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "int32"], "chipdock.signature": "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "chipdock.source_name": "top", "global_symbol": "__tvm_ffi_top", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 3) & (not T.isnullptr(args))):
            return Module.top_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.top_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.top_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(299075752689666) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.top_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.top_checked_(args, num_args)
        A_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(4) | T.tvm_struct_get(A_shape, 1, 17, "int64") ^ T.int64(6) == T.int64(0)):
            return Module.top_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(6) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.top_checked_(args, num_args)
        P_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(P_type_index == 70):
            if not T.likely(P_type_index == 7):
                return Module.top_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.top_checked_(args, num_args)
        P_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(P_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", P_handle, T.int64(16)) ^ T.int64(351843720888322) | T.handle_load("int64", P_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.top_checked_(args, num_args)
        P_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(P_handle, 0, 2, T.handle("int64", "global").ty)
        P_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(P_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(P_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(P_shape))):
            return Module.top_checked_(args, num_args)
        P_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(P_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(P_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(P_shape, 0, 17, "int64") ^ T.int64(3) | T.tvm_struct_get(P_shape, 1, 17, "int64") ^ T.int64(2) == T.int64(0)):
            return Module.top_checked_(args, num_args)
        if T.likely(not T.isnullptr(P_strides)):
            if not T.likely(T.tvm_struct_get(P_strides, 0, 17, "int64") ^ T.int64(2) | T.tvm_struct_get(P_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.top_checked_(args, num_args)
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(((n_type_index == 1) | (n_type_index == 2)) & (T.Cast("uint64", T.tvm_struct_get(args, 2, 15, "int64") + T.int64(2147483648)) <= T.uint64(4294967295))):
            return Module.top_checked_(args, num_args)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 2, 15, "int64"))
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(1) | T.reinterpret("uint64", P_data) & T.uint64(7) == T.uint64(0)):
            return Module.top_checked_(args, num_args)
        return Module.top_compute_(A_data, P_data, n)

    @T.prim_func
    def top_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def top_expected_int_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def top_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 3, ("TypeError", ["Expected 3 arguments", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.top_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        P_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (P_type_index == 7) | (P_type_index == 70):
            return Module.top_expected_Tensor_(1, P_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected Tensor, but got a NULL pointer"])
        P_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(P_type_index == 70, T.int64(24), T.int64(0)))
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (n_type_index == 1) | (n_type_index == 2):
            return Module.top_expected_int_(2, n_type_index)
        assert T.Cast("uint64", T.tvm_struct_get(args, 2, 15, "int64") + T.int64(2147483648)) <= T.uint64(4294967295), ("ValueError", ["Invalid n on argument #2", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int32 between -2147483648 and 2147483647, but got ", T.tvm_struct_get(args, 2, 15, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 2, 15, "int64"))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected float16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(P_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched P.ndim on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 2, but got ", T.tvm_struct_get(P_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(P_handle, 0, 6, "uint8") == T.uint8(64) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got int", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got uint", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got float", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got bfloat", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(P_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(P_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched P.dtype on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected int64, but got dtype code ", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(P_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(P_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched P.device_type on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(P_handle, 0, 10, "int32")])
        P_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(P_handle, 0, 2, T.handle("int64", "global").ty)
        P_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(P_handle, 0, 3, T.handle("int64", "global").ty)
        P_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(P_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(P_handle, 0, 8, "uint64")))
        assert not T.isnullptr(P_shape), ("ValueError", ["Mismatched P.shape on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 4, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(6), ("ValueError", ["Invalid A.shape[1] on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 6, but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        assert T.tvm_struct_get(P_shape, 0, 17, "int64") == T.int64(3), ("ValueError", ["Invalid P.shape[0] on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 3, but got ", T.tvm_struct_get(P_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(P_shape, 1, 17, "int64") == T.int64(2), ("ValueError", ["Invalid P.shape[1] on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected 2, but got ", T.tvm_struct_get(P_shape, 1, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(6), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(6), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(1)])
        if not T.isnullptr(P_strides):
            assert T.tvm_struct_get(P_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(P_strides, 0, 17, "int64") == T.int64(2), ("ValueError", ["Mismatched P.strides on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected to be compact array, that is P.strides[0] = ", T.int64(2), ", but got ", T.tvm_struct_get(P_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(P_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(P_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched P.strides on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected to be compact array, that is P.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(P_strides, 1, 17, "int64")])
        assert T.tvm_struct_get(P_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched P.device_id on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(P_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(P_handle, 0, 1, T.handle().ty)), ("ValueError", ["P data pointer is NULL on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", P_data) & T.uint64(7) == T.uint64(0), ("ValueError", ["Misaligned P.data on argument #1", " when calling:\n  `", "top(A: Tensor([4, 6], float16), P: Tensor([3, 2], int64), n: int32)", "`,\n  expected data plus byte_offset to be a multiple of 8 bytes, but got one that is beyond by ", T.reinterpret("uint64", P_data) & T.uint64(7)])
        return Module.top_compute_(A_data, P_data, n)

    @T.prim_func
    def top_compute_(A: T.handle("float16", "global"), P: T.handle("int64", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(24),), "float16", data=A)
        P_1 = T.decl_buffer((T.int64(6),), "int64", data=P)
        if n > 0:
            packed = T.alloc_buffer((T.int64(14),), "int64")
            tensor0 = T.alloc_buffer((T.int64(6),), "int64")
            shape0 = T.alloc_buffer((T.int64(2),), "int64")
            strides0 = T.alloc_buffer((T.int64(2),), "int64")
            tensor1 = T.alloc_buffer((T.int64(6),), "int64")
            shape1 = T.alloc_buffer((T.int64(2),), "int64")
            tensor0[T.int64(0)] = T.int64(0)
            tensor0[T.int64(1)] = T.int64(0)
            tensor0[T.int64(2)] = T.int64(0)
            tensor0[T.int64(3)] = T.int64(0)
            tensor0[T.int64(4)] = T.int64(0)
            tensor0[T.int64(5)] = T.int64(0)
            shape0[T.int64(0)] = T.Cast("int64", 3)
            shape0[T.int64(1)] = T.Cast("int64", n)
            strides0[T.int64(0)] = T.Cast("int64", 6)
            strides0[T.int64(1)] = T.Cast("int64", 2)
            T.tvm_struct_set(tensor0.data, 0, 2, shape0.data)
            T.tvm_struct_set(tensor0.data, 0, 3, strides0.data)
            T.tvm_struct_set(tensor0.data, 0, 1, A)
            T.tvm_struct_set(tensor0.data, 0, 10, 1)
            T.tvm_struct_set(tensor0.data, 0, 9, 0)
            T.tvm_struct_set(tensor0.data, 0, 4, 2)
            T.tvm_struct_set(tensor0.data, 0, 5, T.uint8(2))
            T.tvm_struct_set(tensor0.data, 0, 6, T.uint8(16))
            T.tvm_struct_set(tensor0.data, 0, 7, T.uint16(1))
            T.tvm_struct_set(tensor0.data, 0, 8, T.Cast("uint64", T.Cast("int64", n + 1) * T.int64(2)))
            T.tvm_struct_set(packed.data, 0, 13, 7)
            T.tvm_struct_set(packed.data, 0, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 0, 15, tensor0.data)
            tensor1[T.int64(0)] = T.int64(0)
            tensor1[T.int64(1)] = T.int64(0)
            tensor1[T.int64(2)] = T.int64(0)
            tensor1[T.int64(3)] = T.int64(0)
            tensor1[T.int64(4)] = T.int64(0)
            tensor1[T.int64(5)] = T.int64(0)
            shape1[T.int64(0)] = T.Cast("int64", 3)
            shape1[T.int64(1)] = T.Cast("int64", 2)
            T.tvm_struct_set(tensor1.data, 0, 2, shape1.data)
            T.tvm_struct_set(tensor1.data, 0, 1, P)
            T.tvm_struct_set(tensor1.data, 0, 10, 1)
            T.tvm_struct_set(tensor1.data, 0, 9, 0)
            T.tvm_struct_set(tensor1.data, 0, 4, 2)
            T.tvm_struct_set(tensor1.data, 0, 5, T.uint8(0))
            T.tvm_struct_set(tensor1.data, 0, 6, T.uint8(64))
            T.tvm_struct_set(tensor1.data, 0, 7, T.uint16(1))
            T.tvm_struct_set(tensor1.data, 0, 8, T.Cast("uint64", T.Cast("int64", 0) * T.int64(8)))
            T.tvm_struct_set(packed.data, 1, 13, 7)
            T.tvm_struct_set(packed.data, 1, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 1, 15, tensor1.data)
            T.tvm_struct_set(packed.data, 2, 13, 1)
            T.tvm_struct_set(packed.data, 2, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 2, 15, T.Cast("int64", 2))
            T.tvm_struct_set(packed.data, 3, 13, 1)
            T.tvm_struct_set(packed.data, 3, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 3, 15, T.Cast("int64", 1))
            T.tvm_struct_set(packed.data, 4, 13, 8)
            T.tvm_struct_set(packed.data, 4, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 4, 15, "indices")
            T.tvm_struct_set(packed.data, 5, 13, 2)
            T.tvm_struct_set(packed.data, 5, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 5, 15, T.Cast("int64", T.bool(True)))
            T.tvm_struct_set(packed.data, 6, 13, 0)
            T.tvm_struct_set(packed.data, 6, 14, T.uint32(0))
            T.tvm_struct_set(packed.data, 6, 15, T.int64(0))
            if T.tvm_call_packed("tvm.contrib.sort.topk", packed.data, 6) != 0:
                T.tvm_throw_last_error()
        return 0
