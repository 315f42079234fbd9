# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_matmul", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        # with T.sblock("root"):
        assert num_args == 3, ("TypeError", ["Expected ", "3", " arguments", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert A_type_index == 0 or A_type_index == 4 or A_type_index == 7 or A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        A_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert B_type_index == 0 or B_type_index == 4 or B_type_index == 7 or B_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        B_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", B_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        assert C_type_index == 0 or C_type_index == 4 or C_type_index == 7 or C_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        C_handle: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", C_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), 24), T.tvm_struct_get(args, 2, 15, T.handle().ty))
        assert not T.isnullptr(A_handle), ("TypeError", ["Mismatched type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        assert 2 == T.tvm_struct_get(A_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "2"])
        assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "float32"])
        matmul_A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        matmul_A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(A_handle, 0, 9, "int32")
        assert not T.isnullptr(B_handle), ("TypeError", ["Mismatched type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        assert 2 == T.tvm_struct_get(B_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "B", ".ndim on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "2"])
        assert T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "B", ".dtype on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "float32"])
        matmul_B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
        matmul_B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "B", ".device_type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "cpu"])
        assert not T.isnullptr(C_handle), ("TypeError", ["Mismatched type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "Tensor"])
        assert 2 == T.tvm_struct_get(C_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "C", ".ndim on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "2"])
        assert T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(C_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "C", ".dtype on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "float32"])
        matmul_C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
        matmul_C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(C_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "C", ".device_type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "cpu"])
        if not T.isnullptr(matmul_A_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(matmul_A_strides, 1, 17, "int64")) and 512 == T.Cast("int32", T.tvm_struct_get(matmul_A_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected to be compact array"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))), ("ValueError", ["A", " data pointer is NULL on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(matmul_B_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(matmul_B_strides, 1, 17, "int64")) and 512 == T.Cast("int32", T.tvm_struct_get(matmul_B_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "B", ".strides on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected to be compact array"])
        assert dev_id == T.tvm_struct_get(B_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "B.device_id", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected to match ", "A.device_id"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))), ("ValueError", ["B", " data pointer is NULL on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected non-NULL data pointer"])
        if not T.isnullptr(matmul_C_strides):
            assert 1 == T.Cast("int32", T.tvm_struct_get(matmul_C_strides, 1, 17, "int64")) and 512 == T.Cast("int32", T.tvm_struct_get(matmul_C_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "C", ".strides on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected to be compact array"])
        assert dev_id == T.tvm_struct_get(C_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "C.device_id", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected to match ", "A.device_id"])
        assert not T.isnullptr(T.reinterpret(T.handle().ty, T.tvm_struct_get(C_handle, 0, 1, T.handle().ty))), ("ValueError", ["C", " data pointer is NULL on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected non-NULL data pointer"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_A_shape, 0, 17, "int64")) == 512, ("ValueError", ["Invalid ", "A.shape[0]", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_A_shape, 1, 17, "int64")) == 512, ("ValueError", ["Invalid ", "A.shape[1]", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.uint64(0) == T.tvm_struct_get(A_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "0"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_B_shape, 0, 17, "int64")) == 512, ("ValueError", ["Invalid ", "B.shape[0]", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_B_shape, 1, 17, "int64")) == 512, ("ValueError", ["Invalid ", "B.shape[1]", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.uint64(0) == T.tvm_struct_get(B_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "B.byte_offset", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "0"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_C_shape, 0, 17, "int64")) == 512, ("ValueError", ["Invalid ", "C.shape[0]", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.Cast("int32", T.tvm_struct_get(matmul_C_shape, 1, 17, "int64")) == 512, ("ValueError", ["Invalid ", "C.shape[1]", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "512"])
        assert T.uint64(0) == T.tvm_struct_get(C_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "C.byte_offset", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([512, 512], float32), B: Tensor([512, 512], float32), C: Tensor([512, 512], float32))", "`,\n  expected ", "0"])
        A = T.decl_buffer((512, 512), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)))
        with T.attr(A, "storage_alignment", 64):
            B = T.decl_buffer((512, 512), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)))
            with T.attr(B, "storage_alignment", 64):
                C = T.decl_buffer((512, 512), data=T.reinterpret(T.handle().ty, T.tvm_struct_get(C_handle, 0, 1, T.handle().ty)))
                with T.attr(C, "storage_alignment", 64):
                    with T.attr({"compute_scope": "matmul_compute_"}):
                        A_1 = T.decl_buffer((262144,), data=A.data)
                        B_1 = T.decl_buffer((262144,), data=B.data)
                        C_1 = T.decl_buffer((262144,), data=C.data)
                        for i in T.parallel(512):
                            for jo in range(32):
                                cse_v1: T.let[T.int32] = i * 512
                                cse_v2: T.let[T.int32] = jo * 16
                                cse_v3: T.let[T.int32] = cse_v1 + cse_v2
                                C_1[cse_v3:cse_v3 + 16] = T.Broadcast(T.float32(0.0), 16)
                                for k in range(512):
                                    C_1[cse_v3:cse_v3 + 16] = C_1[T.Ramp(cse_v3, 1, 16)] + T.Broadcast(A_1[cse_v1 + k], 16) * B_1[T.Ramp(k * 512 + cse_v2, 1, 16)]
                    return 0
