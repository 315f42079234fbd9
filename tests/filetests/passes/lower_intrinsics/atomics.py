# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32"), n: T.int32):
        for i in range(8):
            T.evaluate(T.atomic_add(T.address_of(A[B[i]]), T.float32(1)))
            B[i] = T.atomic_add(T.address_of(B[i]), 1) + 2
            T.evaluate(T.atomic_add(T.tvm_access_ptr("int32", B.data, i, 1, 3), 1))
        for i in T.parallel(8):
            T.evaluate(T.atomic_add(T.address_of(A[0]), T.float32(1)))
        T.evaluate(T.if_then_else(n > 0, T.atomic_add(T.address_of(B[1]), 1), 0))
