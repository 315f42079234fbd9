# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def views(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        s0: T.let[T.int32] = 8
        s1: T.let[T.int32] = 1
        C = T.decl_buffer((4, 8), data=A.data, strides=(8, 1), elem_offset=16, offset_factor=1)
        for i in range(4):
            o: T.let[T.int32] = i * 8 + 20
            D = T.decl_buffer((4,), data=A.data, strides=(1,), elem_offset=i * 8 + 20)
            for j in range(4):
                B[i, j] = D[j]
