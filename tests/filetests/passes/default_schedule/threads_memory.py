# target: device
# Memory of one thread is local; memory between launches is global, whatever it was.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scopes(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        S = T.sblock_alloc_buffer((64,), scope="shared")
        for i in range(64):
            with T.sblock("S"):
                vi = T.axis.spatial(64, i)
                t = T.sblock_alloc_buffer((2,))
                t[0] = A[vi]
                t[1] = t[0] * t[0]
                S[vi] = t[0] + t[1]
        for i in range(64):
            with T.sblock("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = S[63 - vi]

    @T.prim_func(s_tir=True)
    def large(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"tirx.noalias": True})
        for i in range(64):
            with T.sblock("A"):
                vi = T.axis.spatial(64, i)
                t = T.sblock_alloc_buffer((n + 1,))
                t[n] = A[vi]
                A[vi] = t[n] + t[n]

    @T.prim_func(s_tir=True)
    def host_loop(A: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            t = T.alloc_buffer((i + 1,))
            t[i] = A[i]
            A[i] = t[i] + t[i]
