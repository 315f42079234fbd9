# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def host_only(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32"), E: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(4),), data=A.data)
        B_1 = T.decl_buffer((T.int64(4),), data=B.data)
        C_1 = T.decl_buffer((T.int64(4),), data=C.data)
        D_1 = T.decl_buffer((T.int64(4),), data=D.data)
        E_1 = T.decl_buffer((T.int64(4),), data=E.data)
        for i in range(4):
            E_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + B_1[T.Cast("int64", i)] + C_1[T.Cast("int64", i)] + D_1[T.Cast("int64", i)]
