# lower_blocks left an attribute about the data of a view, whose variable is gone then.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(B0: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        with T.sblock("part"):
            vi = T.axis.spatial(1, 0)
            out_row = T.match_buffer(B0[vi, 0], (1, 1), strides=(1, 1), offset_factor=1)
            with T.attr(out_row.data, "pragma_note", 0):
                out_row[0, 0] = T.float32(2)
