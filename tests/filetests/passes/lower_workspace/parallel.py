# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), s: T.float32):
        # An iteration that fails leaves what others use; the caller frees it. A loop that cannot fail stays.
        n = T.int32()
        E = T.alloc_buffer((n,))
        for i in T.parallel(n):
            E[i] = A[i] * s
        k: T.let[T.int32] = n // 2
        for i in T.parallel(k):
            F = T.alloc_buffer((512,))
            assert E[i] < T.float32(100), ("ValueError", ["too large"])
            for j in range(512):
                F[j] = E[i]
            B[i] = F[i]
