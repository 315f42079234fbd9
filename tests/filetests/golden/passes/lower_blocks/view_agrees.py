# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 16), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i in range(4):
            V = T.decl_buffer((4, 16), data=A.data, strides=(16, 1), elem_offset=i * 64)
            B[i] = V[1, 1]
