# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_rows(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "rows(A: Tensor([n, m], float32))", "chipdock.source_name": "rows", "global_symbol": "__tvm_ffi_rows", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.rows_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.rows_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.rows_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734082) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.rows_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.rows_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) | T.tvm_struct_get(A_shape, 1, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.rows_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.Cast("int64", m) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.rows_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.rows_checked_(args, num_args)
        return Module.rows_compute_(A_data, n, m)

    @T.prim_func
    def rows_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def rows_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.rows_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 1, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[1] on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected m between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.isnullptr(A_strides) and not (T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0)):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.Cast("int64", m), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.Cast("int64", m), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "rows(A: Tensor([n, m], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.rows_compute_(A_data, n, m)

    @T.prim_func
    def rows_compute_(A: T.handle("float32", "global"), n: T.int32, m: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        extent: T.let[T.int32] = T.max(n, 0)
        iterations: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.int64(1048576), T.max(T.min(T.max(T.min(T.Cast("int64", m), T.int64(4194304)), T.int64(0)) * T.int64(4), T.int64(4194304)), T.int64(1))), T.int64(1)))
        for block in range(T.truncdiv(extent, iterations) + 1):
            if block > 0:
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            done: T.let[T.int32] = T.Cast("int32", T.min(T.Cast("int64", block) * T.Cast("int64", iterations), T.Cast("int64", extent)))
            for i in range(done, done + T.min(iterations, extent - done)):
                for j in range(m):
                    A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] + T.float32(1.0)
        return 0

    @T.prim_func
    def __tvm_ffi_triangle(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "triangle(A: Tensor([n, n], float32))", "chipdock.source_name": "triangle", "global_symbol": "__tvm_ffi_triangle", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.triangle_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.triangle_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.triangle_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734082) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.triangle_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.triangle_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) | T.tvm_struct_get(A_shape, 1, 17, "int64") ^ T.Cast("int64", n) == T.int64(0)):
            return Module.triangle_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.Cast("int64", n) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.triangle_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.triangle_checked_(args, num_args)
        return Module.triangle_compute_(A_data, n)

    @T.prim_func
    def triangle_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def triangle_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.triangle_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        assert T.tvm_struct_get(A_shape, 1, 17, "int64") == T.Cast("int64", n), ("ValueError", ["Mismatched A.shape[1] on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected to match A.shape[0] (", T.Cast("int64", n), "), but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        if not T.isnullptr(A_strides) and not (T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0)):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.Cast("int64", n), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.Cast("int64", n), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "triangle(A: Tensor([n, n], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.triangle_compute_(A_data, n)

    @T.prim_func
    def triangle_compute_(A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", n),), data=A)
        extent: T.let[T.int32] = T.max(n, 0)
        for block in range(T.truncdiv(extent, 32) + 1):
            if block > 0:
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            done: T.let[T.int32] = block * 32
            for i in range(done, done + T.min(32, extent - done)):
                for j in range(i):
                    A_1[T.Cast("int64", i) * T.Cast("int64", n) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.Cast("int64", n) + T.Cast("int64", j)] + T.float32(1.0)
        return 0

    @T.prim_func
    def __tvm_ffi_parallel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "parallel(A: Tensor([n, m], float32))", "chipdock.source_name": "parallel", "global_symbol": "__tvm_ffi_parallel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.parallel_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.parallel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.parallel_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734082) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.parallel_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.parallel_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) | T.tvm_struct_get(A_shape, 1, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.parallel_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.Cast("int64", m) | T.tvm_struct_get(A_strides, 1, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.parallel_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.parallel_checked_(args, num_args)
        return Module.parallel_compute_(A_data, n, m)

    @T.prim_func
    def parallel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def parallel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.parallel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 2, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected 2, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected 2 extents, but got a NULL pointer"])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 1, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[1] on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected m between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 1, 17, "int64")])
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 1, 17, "int64"))
        if not T.isnullptr(A_strides) and not (T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0)):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.Cast("int64", m), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.Cast("int64", m), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
            assert T.tvm_struct_get(A_shape, 1, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 1, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected to be compact array, that is A.strides[1] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 1, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.tvm_struct_get(A_shape, 1, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "parallel(A: Tensor([n, m], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.parallel_compute_(A_data, n, m)

    @T.prim_func
    def parallel_compute_region0_(first: T.int32, count: T.int32, m: T.int32, A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 2147483646)
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        extent: T.let[T.int32] = T.max(T.min(count, 2147483647 - first_1), 0)
        iterations: T.let[T.int32] = T.Cast("int32", T.max(T.truncdiv(T.int64(1048576), T.max(T.min(T.max(T.min(T.Cast("int64", m), T.int64(4194304)), T.int64(0)) * T.int64(4), T.int64(4194304)), T.int64(1))), T.int64(1)))
        for block in range(T.truncdiv(extent, iterations) + 1):
            if block > 0:
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            done: T.let[T.int32] = T.Cast("int32", T.min(T.Cast("int64", block) * T.Cast("int64", iterations), T.Cast("int64", extent)))
            start: T.let[T.int32] = T.Cast("int32", T.min(T.Cast("int64", first_1) + T.Cast("int64", done), T.int64(2147483647)))
            for i in range(start, start + T.min(T.min(iterations, extent - done), 2147483647 - start)):
                for j in range(m):
                    A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] = A_1[T.Cast("int64", i) * T.Cast("int64", m) + T.Cast("int64", j)] + T.float32(1.0)
        return 0

    @T.prim_func
    def parallel_compute_task0_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        extent: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        each: T.let[T.int32] = T.truncdiv(extent, tasks_count)
        more: T.let[T.int32] = T.truncmod(extent, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        m: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 0, 15, "int64"))
        A: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 1, 15, T.handle("float32", "global").ty)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(data, 2, 15, "int64"))
        return Module.parallel_compute_region0_(first, count, m, A, n)

    @T.prim_func
    def parallel_compute_(A: T.handle("float32", "global"), n: T.int32, m: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n) * T.Cast("int64", m),), data=A)
        if n > 0:
            if n == 1:
                if Module.parallel_compute_region0_(0, n, m, A, n) != 0:
                    T.tvm_throw_last_error()
            else:
                captured = T.alloc_buffer((T.int64(6),), "int64")
                T.tvm_struct_set(captured.data, 0, 15, T.Cast("int64", m))
                T.tvm_struct_set(captured.data, 1, 15, A)
                T.tvm_struct_set(captured.data, 2, 15, T.Cast("int64", n))
                if T.TVMBackendParallelLaunch("parallel_compute_task0_", captured.data, n) != 0:
                    T.tvm_throw_last_error()
        return 0

    @T.prim_func
    def __tvm_ffi_with_workspace(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle"], "chipdock.signature": "with_workspace(A: Tensor([n], float32))", "chipdock.source_name": "with_workspace", "global_symbol": "__tvm_ffi_with_workspace", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        if not T.likely((num_args == 1) & (not T.isnullptr(args))):
            return Module.with_workspace_checked_(args, num_args)
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not T.likely(A_type_index == 70):
            if not T.likely(A_type_index == 7):
                return Module.with_workspace_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty))):
            return Module.with_workspace_checked_(args, num_args)
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        if not T.likely(T.handle_load("int64", A_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", A_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.with_workspace_checked_(args, num_args)
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(A_shape))):
            return Module.with_workspace_checked_(args, num_args)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") >> T.int64(31) == T.int64(0)):
            return Module.with_workspace_checked_(args, num_args)
        if T.likely(not T.isnullptr(A_strides)):
            if not T.likely(T.tvm_struct_get(A_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.with_workspace_checked_(args, num_args)
        if not T.likely(T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0)):
            return Module.with_workspace_checked_(args, num_args)
        return Module.with_workspace_compute_(A_data, n)

    @T.prim_func
    def with_workspace_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def with_workspace_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 1, ("TypeError", ["Expected 1 arguments", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.with_workspace_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.Cast("uint64", T.tvm_struct_get(A_shape, 0, 17, "int64")) <= T.uint64(2147483647), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected n between 0 and 2147483647 (int32), but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(A_shape, 0, 17, "int64"))
        if not T.isnullptr(A_strides) and T.tvm_struct_get(A_shape, 0, 17, "int64") != T.int64(0):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(0) or T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "with_workspace(A: Tensor([n], float32))", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        return Module.with_workspace_compute_(A_data, n)

    @T.prim_func
    def with_workspace_compute_(A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.Cast("int64", n),), data=A)
        W = T.alloc_buffer((T.Cast("int64", n),))
        extent: T.let[T.int32] = T.max(n, 0)
        for block in range(T.truncdiv(extent, 262144) + 1):
            if block > 0:
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            done: T.let[T.int32] = block * 262144
            for i in range(done, done + T.min(262144, extent - done)):
                W[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + T.float32(1.0)
        extent_1: T.let[T.int32] = T.max(n, 0)
        for block in range(T.truncdiv(extent_1, 262144) + 1):
            if block > 0:
                if T.call_extern("int32", "chipdock_go_on") != 0:
                    T.tvm_throw_last_error()
            done: T.let[T.int32] = block * 262144
            for i in range(done, done + T.min(262144, extent_1 - done)):
                A_1[T.Cast("int64", i)] = W[T.Cast("int64", n - i - 1)]
        return 0
