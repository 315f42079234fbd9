# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i, j in T.grid(4, 4):
            V = T.decl_buffer((16, 16), data=A.data, strides=(64, 1), elem_offset=i * 1024 + j * 16, offset_factor=1)
            for x, y in T.grid(16, 16):
                B[i * 16 + x, j * 16 + y] = V[x, y] + T.float32(1.0)
