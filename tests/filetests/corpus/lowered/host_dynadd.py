# tvm: printed (TVM does not read T.if_then_else of pointers, which it prints)
metadata = tvm.ir.load_json("""{
  \"root_index\": 66,
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
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 26,
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
        \"ty\": 28,
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
        \"ty\": 30,
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
        \"ty\": 32,
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
        \"ty\": 34,
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
        \"ty\": 36,
        \"value\": 37
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
        \"ty\": 39,
        \"value\": 40
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
        \"ty\": 42,
        \"value\": 43
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
        \"value\": 37
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
        \"value\": 43
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
        \"value\": 40
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
        \"ty\": 51,
        \"value\": 43
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
        \"ty\": 53,
        \"value\": 37
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
        \"ty\": 55,
        \"value\": 43
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
        \"ty\": 57,
        \"value\": 40
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
        \"ty\": 59,
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
        \"ty\": 61,
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
        \"ty\": 63,
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
        27,
        29,
        31,
        33,
        35,
        38,
        41,
        44,
        46,
        48,
        50,
        52,
        54,
        56,
        58,
        60,
        62,
        64
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        65
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
    def dynadd(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_dynadd", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        assert num_args == 3, ("TypeError", ["Expected ", "3", " arguments", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", "`"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert A_type_index == 0 or A_type_index == 4 or A_type_index == 7 or A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][1], "Tensor"])
        A_handle: T.let[T.handle] = T.if_then_else(A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert B_type_index == 0 or B_type_index == 4 or B_type_index == 7 or B_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][2], "Tensor"])
        B_handle: T.let[T.handle] = T.if_then_else(B_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        assert C_type_index == 0 or C_type_index == 4 or C_type_index == 7 or C_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][3], "Tensor"])
        C_handle: T.let[T.handle] = T.if_then_else(C_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), 24), T.tvm_struct_get(args, 2, 15, T.handle().ty))
        assert not T.isnullptr(A_handle), ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][4], "Tensor"])
        assert 1 == T.tvm_struct_get(A_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][5], "1"])
        assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][6], "float32"])
        dynadd_A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(dynadd_A_shape, 0, 17, "int64"))
        dynadd_A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][7], "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(A_handle, 0, 9, "int32")
        A = T.Buffer((n,))
        with T.attr(A, "storage_alignment", 64):
            assert not T.isnullptr(B_handle), ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][8], "Tensor"])
            assert 1 == T.tvm_struct_get(B_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "B", ".ndim on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][9], "1"])
            assert T.tvm_struct_get(B_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(B_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(B_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "B", ".dtype on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][10], "float32"])
            dynadd_B_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 2, T.handle("int64", "global").ty)
            dynadd_B_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(B_handle, 0, 3, T.handle("int64", "global").ty)
            assert T.tvm_struct_get(B_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "B", ".device_type on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][11], "cpu"])
            B = T.Buffer((n,))
            with T.attr(B, "storage_alignment", 64):
                assert not T.isnullptr(C_handle), ("TypeError", ["Mismatched type on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][12], "Tensor"])
                assert 1 == T.tvm_struct_get(C_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "C", ".ndim on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][13], "1"])
                assert T.tvm_struct_get(C_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(C_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(C_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "C", ".dtype on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][14], "float32"])
                dynadd_C_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 2, T.handle("int64", "global").ty)
                dynadd_C_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(C_handle, 0, 3, T.handle("int64", "global").ty)
                assert T.tvm_struct_get(C_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "C", ".device_type on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][15], "cpu"])
                C = T.Buffer((n,))
                with T.attr(C, "storage_alignment", 64):
                    if not T.isnullptr(dynadd_A_strides):
                        assert n == 1 or 1 == T.Cast("int32", T.tvm_struct_get(dynadd_A_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][16]])
                    assert n == 0 or not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))), ("ValueError", ["A", " data pointer is NULL on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][17]])
                    assert n == T.Cast("int32", T.tvm_struct_get(dynadd_B_shape, 0, 17, "int64")), ("ValueError", ["Mismatched ", "B.shape[0]", " on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][18], "A.shape[0]"])
                    if not T.isnullptr(dynadd_B_strides):
                        assert n == 1 or 1 == T.Cast("int32", T.tvm_struct_get(dynadd_B_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "B", ".strides on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][19]])
                    assert dev_id == T.tvm_struct_get(B_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "B.device_id", " on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][20], "A.device_id"])
                    assert n == 0 or not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty))), ("ValueError", ["B", " data pointer is NULL on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][21]])
                    assert n == T.Cast("int32", T.tvm_struct_get(dynadd_C_shape, 0, 17, "int64")), ("ValueError", ["Mismatched ", "C.shape[0]", " on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][22], "A.shape[0]"])
                    if not T.isnullptr(dynadd_C_strides):
                        assert n == 1 or 1 == T.Cast("int32", T.tvm_struct_get(dynadd_C_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "C", ".strides on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][23]])
                    assert dev_id == T.tvm_struct_get(C_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "C.device_id", " on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][24], "A.device_id"])
                    assert n == 0 or not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(C_handle, 0, 1, T.handle().ty))), ("ValueError", ["C", " data pointer is NULL on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][25]])
                    assert T.uint64(0) == T.tvm_struct_get(A_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][26], "0"])
                    assert T.uint64(0) == T.tvm_struct_get(B_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "B.byte_offset", " on argument #", "1", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][27], "0"])
                    assert T.uint64(0) == T.tvm_struct_get(C_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "C.byte_offset", " on argument #", "2", metadata["ir.StringImm"][0], "dynadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))", metadata["ir.StringImm"][28], "0"])
                    A = T.decl_buffer((n,), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)))
                    B = T.decl_buffer((n,), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(B_handle, 0, 1, T.handle().ty)))
                    C = T.decl_buffer((n,), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(C_handle, 0, 1, T.handle().ty)))
                    with T.attr({"compute_scope": "dynadd_compute_"}):
                        A_1 = T.decl_buffer((n,), data=A.data)
                        B_1 = T.decl_buffer((n,), data=B.data)
                        C_1 = T.decl_buffer((n,), data=C.data)
                        for i in range(n):
                            C_1[i] = A_1[i] + B_1[i]
                    return 0
