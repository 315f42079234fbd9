# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(8),), data=A.data)
        B_1 = T.decl_buffer((T.int64(8),), data=B.data)
        E = T.alloc_buffer((T.int64(1),))
        E[T.int64(0)] = A_1[T.Cast("int64", 0)]
        x: T.let[T.float32] = E[T.int64(0)] * E[T.int64(0)]
        B_1[T.Cast("int64", 0)] = x
        E_1 = T.alloc_buffer((T.int64(1),))
        E_1[T.int64(0)] = A_1[T.Cast("int64", 1)]
        x_1: T.let[T.float32] = E_1[T.int64(0)] * E_1[T.int64(0)]
        B_1[T.Cast("int64", 1)] = x_1
