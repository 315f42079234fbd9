# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def __tvm_ffi_kernel(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "chipdock.arg_types": ["handle", "handle", "handle", "float32", "int8", "uint64", "bool"], "chipdock.signature": "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "chipdock.source_name": "kernel", "global_symbol": "__tvm_ffi_kernel", "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.is_entry_func": True})
        if not T.likely((num_args == 7) & (not T.isnullptr(args))):
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
        if not T.likely(T.tvm_struct_get(A_shape, 0, 17, "int64") ^ T.int64(64) == T.int64(0)):
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
        if not T.likely(T.handle_load("int64", B_handle, T.int64(16)) ^ T.int64(316667938734081) | T.handle_load("int64", B_handle, T.int64(8)) ^ T.int64(1) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        if not T.likely((not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))) & (not T.isnullptr(B_shape))):
            return Module.kernel_checked_(args, num_args)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        if not T.likely(T.tvm_struct_get(B_shape, 0, 17, "int64") ^ T.int64(64) == T.int64(0)):
            return Module.kernel_checked_(args, num_args)
        if T.likely(not T.isnullptr(B_strides)):
            if not T.likely(T.tvm_struct_get(B_strides, 0, 17, "int64") ^ T.int64(1) == T.int64(0)):
                return Module.kernel_checked_(args, num_args)
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not T.likely(H_type_index == 70):
            if not T.likely(H_type_index == 7):
                return Module.kernel_checked_(args, num_args)
        if not T.likely(not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty))):
            return Module.kernel_checked_(args, num_args)
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
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
        s_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not T.likely(s_type_index == 3):
            return Module.kernel_checked_(args, num_args)
        s: T.let[T.float32] = T.Cast("float32", T.tvm_struct_get(args, 3, 15, "float64"))
        k_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not T.likely(((k_type_index == 1) | (k_type_index == 2)) & (T.Cast("uint64", T.tvm_struct_get(args, 4, 15, "int64") + T.int64(128)) <= T.uint64(255))):
            return Module.kernel_checked_(args, num_args)
        k: T.let[T.int8] = T.Cast("int8", T.tvm_struct_get(args, 4, 15, "int64"))
        u_type_index: T.let[T.int32] = T.tvm_struct_get(args, 5, 13, "int32")
        if not T.likely(((u_type_index == 1) | (u_type_index == 2)) & (T.Cast("uint64", T.tvm_struct_get(args, 5, 15, "int64")) <= T.uint64(9223372036854775807))):
            return Module.kernel_checked_(args, num_args)
        u: T.let[T.uint64] = T.Cast("uint64", T.tvm_struct_get(args, 5, 15, "int64"))
        f_type_index: T.let[T.int32] = T.tvm_struct_get(args, 6, 13, "int32")
        if not T.likely(((f_type_index == 1) | (f_type_index == 2)) & (T.Cast("uint64", T.tvm_struct_get(args, 6, 15, "int64")) <= T.uint64(1))):
            return Module.kernel_checked_(args, num_args)
        f: T.let[T.bool] = T.Cast("bool", T.tvm_struct_get(args, 6, 15, "int64"))
        if not T.likely(T.reinterpret("uint64", H_data) & T.uint64(1) | (T.reinterpret("uint64", A_data) | T.reinterpret("uint64", B_data)) & T.uint64(3) == T.uint64(0)):
            return Module.kernel_checked_(args, num_args)
        return Module.kernel_compute_(A_data, B_data, H_data, s, k, u, f)

    @T.prim_func
    def kernel_expected_Tensor_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got None"])
        assert type_index != 1, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got int"])
        assert type_index != 2, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got bool"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a pointer"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a function"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_expected_float_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got None"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_expected_int_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_expected_bool_(argument: T.int32, type_index: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert type_index != 0, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got None"])
        assert type_index != 3, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got float"])
        assert type_index != 4, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got a pointer"])
        assert type_index != 7, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got Tensor"])
        assert type_index != 8, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got str"])
        assert type_index != 11, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got str"])
        assert type_index != 65, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got str"])
        assert type_index != 68, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got a function"])
        assert type_index != 70, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got Tensor"])
        assert type_index != 71, ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got an array"])
        assert T.bool(False), ("TypeError", ["Mismatched type on argument #", argument, " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool, but got a value with type index ", type_index])
        return -1

    @T.prim_func
    def kernel_checked_(args: T.handle, num_args: T.int32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.cold": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        assert num_args == 7, ("TypeError", ["Expected 7 arguments", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  but got ", num_args])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected a non-NULL pointer"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        if not (A_type_index == 7) | (A_type_index == 70):
            return Module.kernel_expected_Tensor_(0, A_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 0, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a NULL pointer"])
        A_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), T.Select(A_type_index == 70, T.int64(24), T.int64(0)))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        if not (B_type_index == 7) | (B_type_index == 70):
            return Module.kernel_expected_Tensor_(1, B_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 1, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a NULL pointer"])
        B_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), T.Select(B_type_index == 70, T.int64(24), T.int64(0)))
        H_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        if not (H_type_index == 7) | (H_type_index == 70):
            return Module.kernel_expected_Tensor_(2, H_type_index)
        assert not T.isnullptr(T.tvm_struct_get(args, 2, 15, T.handle().ty)), ("TypeError", ["Mismatched type on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected Tensor, but got a NULL pointer"])
        H_handle: T.let[T.handle] = T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), T.Select(H_type_index == 70, T.int64(24), T.int64(0)))
        s_type_index: T.let[T.int32] = T.tvm_struct_get(args, 3, 13, "int32")
        if not (s_type_index == 3) | (s_type_index == 1) | (s_type_index == 2):
            return Module.kernel_expected_float_(3, s_type_index)
        s: T.let[T.float32] = T.Cast("float32", T.if_then_else(s_type_index == 3, T.tvm_struct_get(args, 3, 15, "float64"), T.Cast("float64", T.tvm_struct_get(args, 3, 15, "int64"))))
        k_type_index: T.let[T.int32] = T.tvm_struct_get(args, 4, 13, "int32")
        if not (k_type_index == 1) | (k_type_index == 2):
            return Module.kernel_expected_int_(4, k_type_index)
        assert T.Cast("uint64", T.tvm_struct_get(args, 4, 15, "int64") + T.int64(128)) <= T.uint64(255), ("ValueError", ["Invalid k on argument #4", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected int8 between -128 and 127, but got ", T.tvm_struct_get(args, 4, 15, "int64")])
        k: T.let[T.int8] = T.Cast("int8", T.tvm_struct_get(args, 4, 15, "int64"))
        u_type_index: T.let[T.int32] = T.tvm_struct_get(args, 5, 13, "int32")
        if not (u_type_index == 1) | (u_type_index == 2):
            return Module.kernel_expected_int_(5, u_type_index)
        assert T.Cast("uint64", T.tvm_struct_get(args, 5, 15, "int64")) <= T.uint64(9223372036854775807), ("ValueError", ["Invalid u on argument #5", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected uint64 between 0 and 18446744073709551615, but got ", T.tvm_struct_get(args, 5, 15, "int64")])
        u: T.let[T.uint64] = T.Cast("uint64", T.tvm_struct_get(args, 5, 15, "int64"))
        f_type_index: T.let[T.int32] = T.tvm_struct_get(args, 6, 13, "int32")
        if not (f_type_index == 1) | (f_type_index == 2):
            return Module.kernel_expected_bool_(6, f_type_index)
        assert T.Cast("uint64", T.tvm_struct_get(args, 6, 15, "int64")) <= T.uint64(1), ("ValueError", ["Invalid f on argument #6", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected bool between 0 and 1, but got ", T.tvm_struct_get(args, 6, 15, "int64")])
        f: T.let[T.bool] = T.Cast("bool", T.tvm_struct_get(args, 6, 15, "int64"))
        assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched A.ndim on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1, but got ", T.tvm_struct_get(A_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched A.dtype on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(A_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched A.device_type on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(A_handle, 0, 10, "int32")])
        A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        A_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(A_handle, 0, 8, "uint64")))
        assert not T.isnullptr(A_shape), ("ValueError", ["Mismatched A.shape on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(B_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched B.ndim on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1, but got ", T.tvm_struct_get(B_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got int", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got uint", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got float", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got bfloat", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched B.dtype on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float32, but got dtype code ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(B_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched B.device_type on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(B_handle, 0, 10, "int32")])
        B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        B_data: T.let[T.handle("float32", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(B_handle, 0, 8, "uint64")))
        assert not T.isnullptr(B_shape), ("ValueError", ["Mismatched B.shape on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(H_handle, 0, 4, "int32") == 1, ("ValueError", ["Mismatched H.ndim on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1, but got ", T.tvm_struct_get(H_handle, 0, 4, "int32")])
        if not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 6, "uint8") == T.uint8(16) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)):
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(0) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got int", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(1) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got uint", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got float", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(4) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got bfloat", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8"))])
            assert not (T.tvm_struct_get(H_handle, 0, 5, "uint8") == T.uint8(6) and T.tvm_struct_get(H_handle, 0, 7, "uint16") == T.uint16(1)), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got bool"])
            assert T.bool(False), ("TypeError", ["Mismatched H.dtype on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected float16, but got dtype code ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 5, "uint8")), " of ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 6, "uint8")), " bits and ", T.Cast("int32", T.tvm_struct_get(H_handle, 0, 7, "uint16")), " lanes"])
        assert T.tvm_struct_get(H_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched H.device_type on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected cpu (device type 1), but got device type ", T.tvm_struct_get(H_handle, 0, 10, "int32")])
        H_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 2, T.handle("int64", "global").ty)
        H_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(H_handle, 0, 3, T.handle("int64", "global").ty)
        H_data: T.let[T.handle("float16", "global")] = T.handle_add_byte_offset(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty), T.Cast("int64", T.tvm_struct_get(H_handle, 0, 8, "uint64")))
        assert not T.isnullptr(H_shape), ("ValueError", ["Mismatched H.shape on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 1 extents, but got a NULL pointer"])
        assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(64), ("ValueError", ["Invalid A.shape[0] on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 64, but got ", T.tvm_struct_get(A_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(B_shape, 0, 17, "int64") == T.int64(64), ("ValueError", ["Invalid B.shape[0] on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 64, but got ", T.tvm_struct_get(B_shape, 0, 17, "int64")])
        assert T.tvm_struct_get(H_shape, 0, 17, "int64") == T.int64(8), ("ValueError", ["Invalid H.shape[0] on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected 8, but got ", T.tvm_struct_get(H_shape, 0, 17, "int64")])
        if not T.isnullptr(A_strides):
            assert T.tvm_struct_get(A_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(A_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched A.strides on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected to be compact array, that is A.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(A_strides, 0, 17, "int64")])
        assert not T.isnullptr(T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)), ("ValueError", ["A data pointer is NULL on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", A_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned A.data on argument #0", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", A_data) & T.uint64(3)])
        if not T.isnullptr(B_strides):
            assert T.tvm_struct_get(B_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(B_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched B.strides on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected to be compact array, that is B.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(B_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(B_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched B.device_id on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(B_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)), ("ValueError", ["B data pointer is NULL on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", B_data) & T.uint64(3) == T.uint64(0), ("ValueError", ["Misaligned B.data on argument #1", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by ", T.reinterpret("uint64", B_data) & T.uint64(3)])
        if not T.isnullptr(H_strides):
            assert T.tvm_struct_get(H_shape, 0, 17, "int64") < T.int64(2) or T.tvm_struct_get(H_strides, 0, 17, "int64") == T.int64(1), ("ValueError", ["Mismatched H.strides on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected to be compact array, that is H.strides[0] = ", T.int64(1), ", but got ", T.tvm_struct_get(H_strides, 0, 17, "int64")])
        assert T.tvm_struct_get(H_handle, 0, 9, "int32") == T.tvm_struct_get(A_handle, 0, 9, "int32"), ("ValueError", ["Mismatched H.device_id on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected to match A.device_id (", T.tvm_struct_get(A_handle, 0, 9, "int32"), "), but got ", T.tvm_struct_get(H_handle, 0, 9, "int32")])
        assert not T.isnullptr(T.tvm_struct_get(H_handle, 0, 1, T.handle().ty)), ("ValueError", ["H data pointer is NULL on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected non-NULL data pointer"])
        assert T.reinterpret("uint64", H_data) & T.uint64(1) == T.uint64(0), ("ValueError", ["Misaligned H.data on argument #2", " when calling:\n  `", "kernel(A: Tensor([64], float32), B: Tensor([64], float32), H: Tensor([8], float16), s: float32, k: int8, u: uint64, f: bool)", "`,\n  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by ", T.reinterpret("uint64", H_data) & T.uint64(1)])
        return Module.kernel_compute_(A_data, B_data, H_data, s, k, u, f)

    @T.prim_func
    def kernel_compute_region0_(first: T.int32, count: T.int32, v: T.handle("float32", "global"), B: T.handle("float32", "global"), E: T.handle("float32", "global"), h: T.float16, k: T.int8, f: T.bool, u: T.uint64, s: T.float32) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 7)
        B_1 = T.decl_buffer((T.int64(64),), data=B)
        E_1 = T.decl_buffer((T.int64(8),), data=E)
        v_1 = T.decl_buffer((T.int64(4),), data=v)
        v_2: T.let = v_1[T.Ramp(T.int64(0), T.int64(1), 4)]
        for i in range(first_1, first_1 + T.min(count, 8 - first_1)):
            W = T.alloc_buffer((T.int64(4),))
            W[T.int64(0):T.int64(4)] = v_2
            B_1[T.Cast("int64", i)] = E_1[T.Cast("int64", i)] + W[T.int64(2)] + T.Cast("float32", h) + T.Cast("float32", k) + T.Select(f, T.Cast("float32", u), s)
        return 0

    @T.prim_func
    def kernel_compute_task0_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(8, tasks_count)
        more: T.let[T.int32] = T.truncmod(8, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        v: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("float32", "global").ty)
        B: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 1, 15, T.handle("float32", "global").ty)
        E: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 2, 15, T.handle("float32", "global").ty)
        h: T.let[T.float16] = T.Cast("float16", T.Cast("float32", T.tvm_struct_get(data, 3, 15, "float64")))
        k: T.let[T.int8] = T.Cast("int8", T.tvm_struct_get(data, 4, 15, "int64"))
        f: T.let[T.bool] = T.Cast("bool", T.tvm_struct_get(data, 5, 15, "int64"))
        u: T.let[T.uint64] = T.Cast("uint64", T.tvm_struct_get(data, 6, 15, "int64"))
        s: T.let[T.float32] = T.Cast("float32", T.tvm_struct_get(data, 7, 15, "float64"))
        return Module.kernel_compute_region0_(first, count, v, B, E, h, k, f, u, s)

    @T.prim_func
    def kernel_compute_region1_(first: T.int32, count: T.int32, V: T.handle("float32", "global"), A: T.handle("float32", "global")) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        first_1: T.let[T.int32] = T.min(T.max(first, 0), 7)
        V_1 = T.decl_buffer((T.int64(8),), data=V)
        A_1 = T.decl_buffer((T.int64(64),), data=A)
        for i in range(first_1, first_1 + T.min(count, 8 - first_1)):
            V_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)]
        return 0

    @T.prim_func
    def kernel_compute_task1_(task_id: T.int32, tasks_count: T.int32, data: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 0, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        each: T.let[T.int32] = T.truncdiv(8, tasks_count)
        more: T.let[T.int32] = T.truncmod(8, tasks_count)
        first: T.let[T.int32] = task_id * each + T.min(task_id, more)
        count: T.let[T.int32] = each + T.Select(task_id < more, 1, 0)
        V: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 0, 15, T.handle("float32", "global").ty)
        A: T.let[T.handle("float32", "global")] = T.tvm_struct_get(data, 1, 15, T.handle("float32", "global").ty)
        return Module.kernel_compute_region1_(first, count, V, A)

    @T.prim_func
    def kernel_compute_(A: T.handle("float32", "global"), B: T.handle("float32", "global"), H: T.handle("float16", "global"), s: T.float32, k: T.int8, u: T.uint64, f: T.bool) -> T.int32:
        T.func_attr({"calling_conv": 0, "chipdock.no_inline": True, "target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        A_1 = T.decl_buffer((T.int64(64),), data=A)
        B_1 = T.decl_buffer((T.int64(64),), data=B)
        H_1 = T.decl_buffer((T.int64(8),), "float16", data=H)
        E = T.alloc_buffer((T.int64(8),))
        h: T.let[T.float16] = H_1[T.int64(1)]
        v: T.let = A_1[T.Ramp(T.int64(0), T.int64(1), 4)]
        for i in range(8):
            E[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] * s
        v_1 = T.alloc_buffer((T.int64(4),))
        v_1[T.int64(0):T.int64(4)] = v
        captured = T.alloc_buffer((T.int64(16),), "int64")
        T.tvm_struct_set(captured.data, 0, 15, v_1.data)
        T.tvm_struct_set(captured.data, 1, 15, B)
        T.tvm_struct_set(captured.data, 2, 15, E.data)
        T.tvm_struct_set(captured.data, 3, 15, T.Cast("float64", T.Cast("float32", h)))
        T.tvm_struct_set(captured.data, 4, 15, T.Cast("int64", k))
        T.tvm_struct_set(captured.data, 5, 15, T.Cast("int64", f))
        T.tvm_struct_set(captured.data, 6, 15, T.Cast("int64", u))
        T.tvm_struct_set(captured.data, 7, 15, T.Cast("float64", s))
        if T.TVMBackendParallelLaunch("kernel_compute_task0_", captured.data, 8) != 0:
            T.tvm_throw_last_error()
        V = T.decl_buffer((T.int64(8),), data=T.address_of(A_1[T.int64(8)]))
        captured_1 = T.alloc_buffer((T.int64(4),), "int64")
        T.tvm_struct_set(captured_1.data, 0, 15, V.data)
        T.tvm_struct_set(captured_1.data, 1, 15, A)
        if T.TVMBackendParallelLaunch("kernel_compute_task1_", captured_1.data, 8) != 0:
            T.tvm_throw_last_error()
        return 0
