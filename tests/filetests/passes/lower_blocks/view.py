# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        for i, j in T.grid(4, 4):
            with T.sblock("tile"):
                vi, vj = T.axis.remap("SS", [i, j])
                V = T.match_buffer(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16), "float32", offset_factor=1)
                for x, y in T.grid(16, 16):
                    B[vi * 16 + x, vj * 16 + y] = V[x, y] + T.float32(1)
