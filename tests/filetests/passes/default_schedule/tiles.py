# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: host with tiles

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bytes(A: T.Buffer((40, 70), "uint8"), B: T.Buffer((70, 24), "int8"), C: T.Buffer((40, 24), "int32")):
        # Operands are padded to whole tiles.
        T.func_attr({"tirx.noalias": True})
        for i, j, k in T.grid(40, 24, 70):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])

    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((16, 64), "bfloat16"), B: T.Buffer((16, 64), "bfloat16"), C: T.Buffer((16, 16), "float32")):
        # One tile; the second operand is by columns.
        T.func_attr({"tirx.noalias": True})
        for i, j, k in T.grid(16, 16, 64):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vj, vk])

    @T.prim_func(s_tir=True)
    def narrow(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 12), "int8"), C: T.Buffer((64, 12), "int32")):
        # Too few columns for a tile: dot products.
        T.func_attr({"tirx.noalias": True})
        for i, j, k in T.grid(64, 12, 64):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
