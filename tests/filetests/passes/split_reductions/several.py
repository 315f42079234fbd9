# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def moments(A: T.Buffer((8, 96), "float64"), S: T.Buffer((8,), "float64"), Q: T.Buffer((8,), "float64")):
        # Two sums at once, with a name, of float64; nothing over.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float64(1.0)
                    Q[vi] = T.float64(0.0)
                a: T.let[T.float64] = A[vi, vk]
                S[vi] = S[vi] + a
                Q[vi] = a * a + Q[vi]

    @T.prim_func(s_tir=True)
    def by_name(A: T.Buffer((8, 96), "float32"), S: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
        # New values are bound before any is stored.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                    Q[vi] = T.float32(0.0)
                s: T.let[T.float32] = S[vi] + A[vi, vk]
                q: T.let[T.float32] = Q[vi] + A[vi, vk] * A[vi, vk]
                S[vi] = s
                Q[vi] = q

    @T.prim_func(s_tir=True)
    def swapped(A: T.Buffer((8, 96), "float32"), S: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
        # Each result becomes the other's new value.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(8, 96):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0.0)
                    Q[vi] = T.float32(1.0)
                s: T.let[T.float32] = S[vi] + A[vi, vk]
                q: T.let[T.float32] = Q[vi] + A[vi, vk]
                S[vi] = q
                Q[vi] = s
