# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), H: T.Buffer((8,), "float16"), s: T.float32, k: T.int8, u: T.uint64, f: T.bool):
        # Every type is taken along, vectors and memory on the stack too; memory of its own does not alias, a view may.
        T.func_attr({"tirx.noalias": True})
        E = T.alloc_buffer((8,))
        h: T.let[T.float16] = H[1]
        v: T.let[T.float32x4] = A[0:4]
        for i in range(8):
            E[i] = A[i] * s
        for i in T.parallel(8):
            W = T.alloc_buffer((4,))
            W[0:4] = v
            B[i] = E[i] + W[2] + T.Cast("float32", h) + T.Cast("float32", k) + T.Select(f, T.Cast("float32", u), s)
        V = T.decl_buffer((8,), data=T.address_of(A[8]))
        for i in T.parallel(8):
            V[i] = A[i]
