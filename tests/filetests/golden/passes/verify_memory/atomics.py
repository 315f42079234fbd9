# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def count(A: T.Buffer((32,), "int32"), N: T.Buffer((1,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(32),), "int32", data=A.data)
        N_1 = T.decl_buffer((T.int64(1),), "int32", data=N.data)
        for i in T.parallel(32):
            T.call_intrin("int32", "tirx.atomic_add", T.address_of(N_1[T.int64(0)]), A_1[T.Cast("int64", i)])
