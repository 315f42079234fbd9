# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def count(A: T.Buffer((32,), "int32"), N: T.Buffer((1,), "int32")):
        # Atomic additions are of every target.
        for i in T.parallel(32):
            T.evaluate(T.atomic_add(T.address_of(N[0]), A[i]))
