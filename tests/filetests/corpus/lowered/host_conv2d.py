# tvm: printed (TVM does not read T.if_then_else of pointers, which it prints)
metadata = tvm.ir.load_json("""{
  \"root_index\": 86,
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
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 42,
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
      \"data\": \"`,\\n  expected to match \"
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 44,
        \"value\": 45
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
        \"ty\": 49,
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
        \"ty\": 51,
        \"value\": 45
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
        \"ty\": 55,
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
        \"ty\": 57,
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
      \"type\": \"ir.StringType\",
      \"data\": {
        \"span\": 1
      }
    },
    {
      \"type\": \"ir.StringImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 65,
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
        \"ty\": 67,
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
        \"ty\": 69,
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
        \"ty\": 71,
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
        \"ty\": 73,
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
        \"ty\": 75,
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
        \"ty\": 77,
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
        \"ty\": 79,
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
        \"ty\": 81,
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
        \"ty\": 83,
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
        43,
        46,
        48,
        50,
        52,
        54,
        56,
        58,
        60,
        62,
        64,
        66,
        68,
        70,
        72,
        74,
        76,
        78,
        80,
        82,
        84
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        85
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
    def conv2d(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_conv2d", "target": T.target({"keys": ["cpu"], "kind": "c", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        assert num_args == 3, ("TypeError", ["Expected ", "3", " arguments", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", "`"])
        A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert A_type_index == 0 or A_type_index == 4 or A_type_index == 7 or A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][1], "Tensor"])
        A_handle: T.let[T.handle] = T.if_then_else(A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        W_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert W_type_index == 0 or W_type_index == 4 or W_type_index == 7 or W_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][2], "Tensor"])
        W_handle: T.let[T.handle] = T.if_then_else(W_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        O_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        assert O_type_index == 0 or O_type_index == 4 or O_type_index == 7 or O_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][3], "Tensor"])
        O_handle: T.let[T.handle] = T.if_then_else(O_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, T.handle().ty), 24), T.tvm_struct_get(args, 2, 15, T.handle().ty))
        assert not T.isnullptr(A_handle), ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][4], "Tensor"])
        assert 4 == T.tvm_struct_get(A_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][5], "4"])
        assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(A_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][6], "float32"])
        conv2d_A_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 2, T.handle("int64", "global").ty)
        conv2d_A_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(A_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(A_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][7], "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(A_handle, 0, 9, "int32")
        A = T.Buffer((1, 3, 16, 16))
        with T.attr(A, "storage_alignment", 64):
            assert not T.isnullptr(W_handle), ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][8], "Tensor"])
            assert 4 == T.tvm_struct_get(W_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "W", ".ndim on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][9], "4"])
            assert T.tvm_struct_get(W_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(W_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(W_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "W", ".dtype on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][10], "float32"])
            conv2d_W_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 2, T.handle("int64", "global").ty)
            conv2d_W_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(W_handle, 0, 3, T.handle("int64", "global").ty)
            assert T.tvm_struct_get(W_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "W", ".device_type on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][11], "cpu"])
            W = T.Buffer((8, 3, 3, 3))
            with T.attr(W, "storage_alignment", 64):
                assert not T.isnullptr(O_handle), ("TypeError", ["Mismatched type on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][12], "Tensor"])
                assert 4 == T.tvm_struct_get(O_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "O", ".ndim on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][13], "4"])
                assert T.tvm_struct_get(O_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(O_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(O_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "O", ".dtype on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][14], "float32"])
                conv2d_O_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(O_handle, 0, 2, T.handle("int64", "global").ty)
                conv2d_O_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(O_handle, 0, 3, T.handle("int64", "global").ty)
                assert T.tvm_struct_get(O_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "O", ".device_type on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][15], "cpu"])
                O = T.Buffer((1, 8, 16, 16))
                with T.attr(O, "storage_alignment", 64):
                    if not T.isnullptr(conv2d_A_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 3, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 2, 17, "int64")) and 256 == T.Cast("int32", T.tvm_struct_get(conv2d_A_strides, 1, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][16]])
                    assert not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty))), ("ValueError", ["A", " data pointer is NULL on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][17]])
                    if not T.isnullptr(conv2d_W_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 3, 17, "int64")) and 3 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 2, 17, "int64")) and 9 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 1, 17, "int64")) and 27 == T.Cast("int32", T.tvm_struct_get(conv2d_W_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "W", ".strides on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][18]])
                    assert dev_id == T.tvm_struct_get(W_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "W.device_id", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][19], "A.device_id"])
                    assert not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(W_handle, 0, 1, T.handle().ty))), ("ValueError", ["W", " data pointer is NULL on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][20]])
                    if not T.isnullptr(conv2d_O_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 3, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 2, 17, "int64")) and 256 == T.Cast("int32", T.tvm_struct_get(conv2d_O_strides, 1, 17, "int64")), ("ValueError", ["Mismatched ", "O", ".strides on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][21]])
                    assert dev_id == T.tvm_struct_get(O_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "O.device_id", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][22], "A.device_id"])
                    assert not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(O_handle, 0, 1, T.handle().ty))), ("ValueError", ["O", " data pointer is NULL on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][23]])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 0, 17, "int64")) == 1, ("ValueError", ["Invalid ", "A.shape[0]", " on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][24], "1"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 1, 17, "int64")) == 3, ("ValueError", ["Invalid ", "A.shape[1]", " on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][25], "3"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 2, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[2]", " on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][26], "16"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_A_shape, 3, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[3]", " on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][27], "16"])
                    assert T.uint64(0) == T.tvm_struct_get(A_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][28], "0"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 0, 17, "int64")) == 8, ("ValueError", ["Invalid ", "W.shape[0]", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][29], "8"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 1, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[1]", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][30], "3"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 2, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[2]", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][31], "3"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_W_shape, 3, 17, "int64")) == 3, ("ValueError", ["Invalid ", "W.shape[3]", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][32], "3"])
                    assert T.uint64(0) == T.tvm_struct_get(W_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "W.byte_offset", " on argument #", "1", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][33], "0"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 0, 17, "int64")) == 1, ("ValueError", ["Invalid ", "O.shape[0]", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][34], "1"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 1, 17, "int64")) == 8, ("ValueError", ["Invalid ", "O.shape[1]", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][35], "8"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 2, 17, "int64")) == 16, ("ValueError", ["Invalid ", "O.shape[2]", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][36], "16"])
                    assert T.Cast("int32", T.tvm_struct_get(conv2d_O_shape, 3, 17, "int64")) == 16, ("ValueError", ["Invalid ", "O.shape[3]", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][37], "16"])
                    assert T.uint64(0) == T.tvm_struct_get(O_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "O.byte_offset", " on argument #", "2", metadata["ir.StringImm"][0], "conv2d(A: Tensor([1, 3, 16, 16], float32), W: Tensor([8, 3, 3, 3], float32), O: Tensor([1, 8, 16, 16], float32))", metadata["ir.StringImm"][38], "0"])
                    A = T.decl_buffer((1, 3, 16, 16), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(A_handle, 0, 1, T.handle().ty)))
                    W = T.decl_buffer((8, 3, 3, 3), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(W_handle, 0, 1, T.handle().ty)))
                    O = T.decl_buffer((1, 8, 16, 16), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(O_handle, 0, 1, T.handle().ty)))
                    with T.attr({"compute_scope": "conv2d_compute_"}):
                        P = T.decl_buffer((972,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(3888), 2, 32))
                        if T.isnullptr(P.data):
                            T.tvm_throw_last_error()
                        A_1 = A.view(768)
                        W_1 = W.view(216)
                        O_1 = O.view(2048)
                        for c, h, w in T.grid(3, 18, 18):
                            P[c * 324 + h * 18 + w] = T.if_then_else(1 <= h and h < 17 and 1 <= w and w < 17, A_1[c * 256 + h * 16 + w - 17], T.float32(0.0))
                        for f, h, w, c, kh, kw in T.grid(8, 16, 16, 3, 3, 3):
                            cse_v1: T.let[T.int32] = f * 256 + h * 16 + w
                            if c == 0 and kh == 0 and kw == 0:
                                O_1[cse_v1] = T.float32(0.0)
                            O_1[cse_v1] = O_1[cse_v1] + P[c * 324 + h * 18 + kh * 18 + w + kw] * W_1[f * 27 + c * 9 + kh * 3 + kw]
                        if T.TVMBackendFreeWorkspace(1, dev_id, P.data) != 0:
                            T.tvm_throw_last_error()
                    return 0
