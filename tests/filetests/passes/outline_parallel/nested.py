# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8,), "int32")):
        # The outermost loop is launched, what is within runs one by one; atomics stay, and a failure ends it.
        for i in T.parallel(8):
            F = T.alloc_buffer((512,))
            assert A[i, 0] < T.float32(100), ("ValueError", ["too large in row ", i])
            for j in T.parallel(16):
                F[j] = A[i, j]
                F[511 - j] = F[j]
            for j in range(16):
                A[i, j] = F[496 + j]
            T.evaluate(T.atomic_add(T.address_of(B[0]), 1))
        for j in T.parallel(1):
            for i in T.parallel(8):
                A[i, j] = T.float32(0)
