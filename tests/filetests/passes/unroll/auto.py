# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # Serial loops of at most eight steps in all, inner ones first.
        for i in T.serial(4, annotations={"pragma_auto_unroll_max_step": 8, "pragma_unroll_explicit": 1}):
            for j in range(4):
                for k in range(2):
                    B[i * 16 + j * 2 + k] = A[i * 16 + j]
            for j in range(16):
                B[i * 16 + j] = A[i * 16 + j]

    @T.prim_func(s_tir=True)
    def block(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        with T.sblock("outer"):
            T.sblock_attr({"pragma_auto_unroll_max_step": 4, "note": "kept"})
            for i in range(4):
                with T.sblock("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi]
