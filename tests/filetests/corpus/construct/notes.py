# Annotations with buffers, lists and dictionaries of any depth, as legalised kernels have them.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def blocks(A: T.Buffer((16,), "float32"), W: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"layout_free": [W], "deep": {"a": {"b": [1, [2, {"c": W}]]}}, "none": None})
        C = T.sblock_alloc_buffer((16,), "float32")
        for i in range(16):
            with T.sblock("C"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi], W[vi])
                T.writes(C[vi])
                T.sblock_attr({"layout_free_placeholders": [W], "buffer": A, "axis": vi + 1})
                C[vi] = A[vi] * W[vi]
        for i in T.serial(16, annotations={"of": [C, {"z": (1, 2.5, "x")}], "n": None}):
            with T.sblock("B"):
                vi = T.axis.spatial(16, i)
                T.reads(C[vi])
                T.writes(B[vi])
                T.sblock_attr({"k": {"a": [1, {"b": [C, "x", 2.5]}], "c": B}, "shape": A.shape})
                B[vi] = C[vi] + T.float32(1)

    @T.prim_func
    def loops(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        C = T.alloc_buffer((16,), "float32", annotations={"of": [A, {"z": [1, 2]}], "data": {"B": B}})
        for i in T.serial(16, annotations={"source": A}):
            C[i] = A[i]
        for i in T.vectorized(16, annotations={"source": [[C]]}):
            B[i] = C[i]
