# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sums(a: T.handle, b: T.handle, c: T.handle):
        # An extent that may be anything, none too: then there is no init.
        T.func_attr({"tirx.noalias": True})
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m))
        B = T.match_buffer(b, (n,))
        C = T.match_buffer(c, (n, m))
        for i, k in T.grid(n, m):
            with T.sblock("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0.0)
                B[vi] = B[vi] + A[vi, vk] * C[vi, vk]
