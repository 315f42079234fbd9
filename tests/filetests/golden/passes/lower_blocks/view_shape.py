# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 16), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i in range(4):
            assert n == 4, ("ValueError", ["expected shape[0] of the view V to be what its region gives (", 4, "), found ", n])
            assert n * i * 16 == i * 64, ("ValueError", ["expected elem_offset of the view V to be what its region gives (", i * 64, "), found ", n * i * 16])
            assert n * 4 == 16, ("ValueError", ["expected strides[0] of the view V to be what its region gives (", 16, "), found ", n * 4])
            V = T.decl_buffer((n, 16), data=A.data, strides=(16, 1), elem_offset=i * 64)
            B[i] = V[1, 1]
