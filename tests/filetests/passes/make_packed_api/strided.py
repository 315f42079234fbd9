# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n", 4), "float32", strides=("s", 1), elem_offset="off")):
        n = T.int32()
        s = T.int32()
        off = T.int32()
        for i in range(n):
            A[i, 0] = T.float32(0)
