# tvm: printed (TVM does not read T.if_then_else of pointers, which it prints)
metadata = tvm.ir.load_json("""{
  \"root_index\": 52,
  \"nodes\": [
    {
      \"type\": \"ffi.String\",
      \"data\": \"ir.StringImm\"
    },
    {
      \"type\": \"None\"
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \" when calling:\\n  `\"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 3
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected \"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 5,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 8,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 10,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 12,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 14,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 16,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 18,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 20,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 22,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 24,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected to be compact array\"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 26,
        \"value\": 27
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected non-NULL data pointer\"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 29,
        \"value\": 30
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 32,
        \"value\": 27
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected to match \"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 34,
        \"value\": 35
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 37,
        \"value\": 30
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 39,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 41,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 43,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 45,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 47,
        \"value\": 6
      }
    },
    {
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 49,
        \"value\": 6
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        4,
        7,
        9,
        11,
        13,
        15,
        17,
        19,
        21,
        23,
        25,
        28,
        31,
        33,
        36,
        38,
        40,
        42,
        44,
        46,
        48,
        50
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        51
      ]
    }
  ],
  \"metadata\": {
    \"tvm_version\": \"0.27.0.post1\"
  }
}""")
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def softmax(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_softmax", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        assert num_args == 2, ("TypeError", ["Expected ", "2", " arguments", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", "`"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert A_type_index == 0 or A_type_index == 4 or A_type_index == 7 or A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][1], "Tensor"])
        A_handle: T.let[T.handle] = T.if_then_else(A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert B_type_index == 0 or B_type_index == 4 or B_type_index == 7 or B_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][2], "Tensor"])
        B_handle: T.let[T.handle] = T.if_then_else(B_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        assert not T.isnullptr(A_handle), ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][3], "Tensor"])
        assert 2 == T.tvm_struct_get(A_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][4], "2"])
        assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][5], "float32"])
        softmax_A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        softmax_A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][6], "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(A_handle, 0, 9, "int32")
        A = T.Buffer((16, 77))
        with T.attr(A, "storage_alignment", 64):
            assert not T.isnullptr(B_handle), ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][7], "Tensor"])
            assert 2 == T.tvm_struct_get(B_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "B", ".ndim on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][8], "2"])
            assert T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "B", ".dtype on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][9], "float32"])
            softmax_B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
            softmax_B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
            assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "B", ".device_type on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][10], "cpu"])
            B = T.Buffer((16, 77))
            with T.attr(B, "storage_alignment", 64):
                if not T.isnullptr(softmax_A_strides):
                    assert 1 == T.Cast("int32", T.tvm_struct_get(softmax_A_strides, 1, 17, "int64")) and 77 == T.Cast("int32", T.tvm_struct_get(softmax_A_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][11]])
                assert not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))), ("ValueError", ["A", " data pointer is NULL on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][12]])
                if not T.isnullptr(softmax_B_strides):
                    assert 1 == T.Cast("int32", T.tvm_struct_get(softmax_B_strides, 1, 17, "int64")) and 77 == T.Cast("int32", T.tvm_struct_get(softmax_B_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "B", ".strides on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][13]])
                assert dev_id == T.tvm_struct_get(B_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "B.device_id", " on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][14], "A.device_id"])
                assert not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))), ("ValueError", ["B", " data pointer is NULL on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][15]])
                assert T.Cast("int32", T.tvm_struct_get(softmax_A_shape, 0, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[0]", " on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][16], "16"])
                assert T.Cast("int32", T.tvm_struct_get(softmax_A_shape, 1, 17, "int64")) == 77, ("ValueError", ["Invalid ", "A.shape[1]", " on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][17], "77"])
                assert T.uint64(0) == T.tvm_struct_get(A_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][18], "0"])
                assert T.Cast("int32", T.tvm_struct_get(softmax_B_shape, 0, 17, "int64")) == 16, ("ValueError", ["Invalid ", "B.shape[0]", " on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][19], "16"])
                assert T.Cast("int32", T.tvm_struct_get(softmax_B_shape, 1, 17, "int64")) == 77, ("ValueError", ["Invalid ", "B.shape[1]", " on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][20], "77"])
                assert T.uint64(0) == T.tvm_struct_get(B_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "B.byte_offset", " on argument #", "1", metadata["ir.StringImm"][0], "softmax(A: Tensor([16, 77], float32), B: Tensor([16, 77], float32))", metadata["ir.StringImm"][21], "0"])
                A = T.decl_buffer((16, 77), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)))
                B = T.decl_buffer((16, 77), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)))
                with T.attr({"compute_scope": "softmax_compute_"}):
                    M = T.alloc_buffer((16,))
                    E = T.decl_buffer((1232,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(4928), 2, 32))
                    if T.isnullptr(E.data):
                        T.tvm_throw_last_error()
                    A_1 = A.view(1232)
                    B_1 = B.view(1232)
                    M_1 = T.decl_buffer((16,), data=M.data)
                    for i, k in T.grid(16, 77):
                        if k == 0:
                            M[i] = T.float32(-340282346638528859811704183484516925440.0)
                        M[i] = T.max(M[i], A_1[i * 77 + k])
                    for i, j in T.grid(16, 77):
                        cse_v1: T.let[T.int32] = i * 77 + j
                        E[cse_v1] = T.call_pure_extern("float32", "expf", A_1[cse_v1] - M[i])
                    for i, k in T.grid(16, 77):
                        if k == 0:
                            M_1[i] = T.float32(0.0)
                        M_1[i] = M_1[i] + E[i * 77 + k]
                    for i, j in T.grid(16, 77):
                        cse_v2: T.let[T.int32] = i * 77 + j
                        B_1[cse_v2] = E[cse_v2] / M_1[i]
                    if T.TVMBackendFreeWorkspace(1, dev_id, E.data) != 0:
                        T.tvm_throw_last_error()
                return 0
