# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def stack(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
        # 1024 bytes stay, in a loop too.
        for i in range(2):
            E = T.alloc_buffer((256,))
            for j in range(256):
                E[j] = A[j]
            for j in range(256):
                B[j] = E[255 - j]
