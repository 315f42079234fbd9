# target: device with lone threads
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer(("m", "k"), "float32"), B: T.Buffer((k, "n"), "float32"), C: T.Buffer((m, n), "float32")):
        # Tiles in registers, without shared memory.
        m, n, k = T.int32(), T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, j, p in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                with T.init():
                    C[vi, vj] = T.float32(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]

    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", "d"), "float32"), B: T.Buffer((n, d), "float32")):
        # A thread for each sum; of what follows, for neighbours, in vectors and the rest alone.
        n, d = T.int32(), T.int32()
        T.func_attr({"tirx.noalias": True})
        S = T.sblock_alloc_buffer((n,))
        for i, k in T.grid(n, d):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + A[vi, vk]
        for i, j in T.grid(n, d):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] / S[vi]

    @T.prim_func(s_tir=True)
    def fixed(A: T.Buffer((8, 128), "int8"), B: T.Buffer((8, 128), "int8"), C: T.Buffer((128, 40), "int32"), D: T.Buffer((40, 128), "int32")):
        # Whole runs, and one across memory, which is no vector's.
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(8, 128):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.int8(3)
        for i, j in T.grid(40, 128):
            with T.sblock("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vj, vi]
