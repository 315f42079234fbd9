# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def blocks(A: T.Buffer((16,), "float32"), W: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"deep": {"a": {"b": [1, [2, {"c": W}]]}}, "layout_free": [W], "none": None})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((16,))
        for i in range(16):
            with T.sblock("C"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi], W[vi])
                T.writes(C[vi])
                T.sblock_attr({"axis": vi + 1, "buffer": A, "layout_free_placeholders": [W]})
                C[vi] = A[vi] * W[vi]
        for i in T.serial(16, annotations={"n": None, "of": [C, {"z": [1, 2.5, "x"]}]}):
            with T.sblock("B"):
                vi = T.axis.spatial(16, i)
                T.reads(C[vi])
                T.writes(B[vi])
                T.sblock_attr({"k": {"a": [1, {"b": [C, "x", 2.5]}], "c": B}, "shape": [T.int32(16)]})
                B[vi] = C[vi] + T.float32(1.0)

    @T.prim_func
    def loops(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        C = T.alloc_buffer((16,), annotations={"data": {"B": B}, "of": [A, {"z": [1, 2]}]})
        for i in T.serial(16, annotations={"source": A}):
            C[i] = A[i]
        for i in T.vectorized(16, annotations={"source": [[C]]}):
            B[i] = C[i]
