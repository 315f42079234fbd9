# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16,), "float32", offset_factor=1), B: T.Buffer((4,), "float32", offset_factor=1), searchsorted: T.Buffer((4,), "int32", offset_factor=1)):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        with T.sblock("searchsorted"):
            T.reads(A[0:16], B[0:4])
            T.writes(searchsorted[0:4])
            for v in T.parallel(4):
                buffer = T.alloc_buffer((1,), "int32", scope="local")
                buffer_1 = T.alloc_buffer((1,), "int32", scope="local")
                buffer[0] = 0
                buffer_1[0] = 16
                while buffer[0] < buffer_1[0]:
                    if A[buffer[0] + (buffer_1[0] - buffer[0] >> 1)] < B[v]:
                        buffer[0] = buffer[0] + (buffer_1[0] - buffer[0] >> 1) + 1
                    else:
                        buffer_1[0] = buffer[0] + (buffer_1[0] - buffer[0] >> 1)
                searchsorted[v] = buffer[0]
