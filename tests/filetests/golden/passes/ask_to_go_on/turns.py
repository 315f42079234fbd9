# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_turns(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "int64"], "chipdock.signature": "turns(A: Tensor([4], int64), n: int64)", "chipdock.source_name": "turns", "global_symbol": "__tvm_ffi_turns", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 2) & (not T.isnullptr(args))):
            return Module.turns_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.turns_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.turns_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(351843720888321) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.turns_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.turns_checked_(args, num_args)
        A_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(4) == T.int64(0)):
            return Module.turns_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.turns_checked_(args, num_args)
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely((n_type_index == 1) | (n_type_index == 2)):
            return Module.turns_checked_(args, num_args)
        n: T.let[T.int64] = T.tvm_struct_get(args, 1, 15, "int64")
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(7) == T.uint64(0)):
            return Module.turns_checked_(args, num_args)
        return Module.turns_compute_(A_data, n)

    @T.prim_func
    def turns_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def turns_expected_int_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def turns_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 2, ("TypeError", ["Expected 2 arguments", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.turns_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        n_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (n_type_index == 1) | (n_type_index == 2):
            return Module.turns_expected_int_(1, n_type_index)
        n: T.let[T.int64] = T.tvm_struct_get(args, 1, 15, "int64")
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(64) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected int64, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int64", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(4), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected 4, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(7) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "turns(A: Tensor([4], int64), n: int64)", "`,\n  expected data plus byte_offset to be a multiple of 8 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(7)])
        return Module.turns_compute_(A_data, n)

    @T.prim_func
    def turns_compute_(A: T.handle("int64", "global"), n: T.int64) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(4),), "int64", data=A)
        A_1[T.int64(0)] = T.int64(0)
        turns = T.alloc_buffer((T.int64(1),), "int64", scope="local")
        turns[T.int64(0)] = T.int64(0)
        while A_1[T.int64(0)] < n:
            turns[T.int64(0)] = turns[T.int64(0)] + T.int64(1)
            if turns[T.int64(0)] >= T.int64(524288):
                turns[T.int64(0)] = T.int64(0)
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            A_1[T.int64(0)] = A_1[T.int64(0)] + T.int64(1)
        return 0

    @T.prim_func
    def __tvm_ffi_leaves(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "leaves(A: Tensor([n], int32))", "chipdock.source_name": "leaves", "global_symbol": "__tvm_ffi_leaves", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.leaves_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.leaves_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.leaves_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.leaves_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.leaves_checked_(args, num_args)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.leaves_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.leaves_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.leaves_checked_(args, num_args)
        return Module.leaves_compute_(A_data, n)

    @T.prim_func
    def leaves_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def leaves_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.leaves_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.isnullptr(A_strides) and T.tvm_struct_get(A_shape, 0, 17, "int64") != T.int64(0):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "leaves(A: Tensor([n], int32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.leaves_compute_(A_data, n)

    @T.prim_func
    def leaves_compute_(A: T.handle("int32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n),), "int32", data=A)
        turns = T.alloc_buffer((T.int64(1),), "int64", scope="local")
        turns[T.int64(0)] = T.int64(0)
        for i in range(n):
            turns[T.int64(0)] = turns[T.int64(0)] + T.int64(1)
            if turns[T.int64(0)] >= T.int64(524288):
                turns[T.int64(0)] = T.int64(0)
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            if A_1[T.Cast("int64", i)] < 0:
                break
            if A_1[T.Cast("int64", i)] == 7:
                continue
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + 1
        return 0

    @T.prim_func
    def __tvm_ffi_in_turns(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle"], "chipdock.signature": "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "chipdock.source_name": "in_turns", "global_symbol": "__tvm_ffi_in_turns", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 2) & (not T.isnullptr(args))):
            return Module.in_turns_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.in_turns_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.in_turns_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.in_turns_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.in_turns_checked_(args, num_args)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.in_turns_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.in_turns_checked_(args, num_args)
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not T.likely(B_type_index == 70):
            if not T.likely(B_type_index == 7):
                return Module.in_turns_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty))):
            return Module.in_turns_checked_(args, num_args)
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(316659348799489) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.in_turns_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.in_turns_checked_(args, num_args)
        B_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
            return Module.in_turns_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.in_turns_checked_(args, num_args)
        if not T.likely((T.reinterpret("uint64", A_data) | T.reinterpret("uint64", B_data)) & T.uint64(3) == T.uint64(0)):
            return Module.in_turns_checked_(args, num_args)
        return Module.in_turns_compute_(A_data, B_data, n)

    @T.prim_func
    def in_turns_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def in_turns_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 2, ("TypeError", ["Expected 2 arguments", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.in_turns_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.in_turns_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected int32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("int32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(1), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected 1, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.isnullptr(A_strides) and T.tvm_struct_get(A_shape, 0, 17, "int64") != T.int64(0):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", B_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned B.data on argument #1", " when calling:\n  `", "in_turns(A: Tensor([n], int32), B: Tensor([1], int32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", B_data) & T.uint64(3)])
        return Module.in_turns_compute_(A_data, B_data, n)

    @T.prim_func
    def in_turns_compute_(A: T.handle("int32", "global"), B: T.handle("int32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n),), "int32", data=A)
        B_1 = T.decl_buffer((T.int64(1),), "int32", data=B)
        turns = T.alloc_buffer((T.int64(1),), "int64", scope="local")
        turns[T.int64(0)] = T.int64(0)
        while B_1[T.int64(0)] > 0:
            turns[T.int64(0)] = turns[T.int64(0)] + T.int64(1)
            if turns[T.int64(0)] >= T.int64(63):
                turns[T.int64(0)] = T.int64(0)
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            for i in range(n):
                A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + B_1[T.int64(0)]
            B_1[T.int64(0)] = B_1[T.int64(0)] - 1
        return 0
