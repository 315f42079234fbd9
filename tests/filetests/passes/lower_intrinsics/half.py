# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(H: T.Buffer((8,), "float16"), B: T.Buffer((8,), "bool")):
        H[0] = H[1] + H[2] * H[3]
        H[1] = T.exp(H[2])
        H[2] = T.sqrt(H[3])
        H[3] = T.max(H[4], T.float16(0))
        B[0] = H[0] < H[1]
        H[4] = T.nextafter(H[5], H[6])
