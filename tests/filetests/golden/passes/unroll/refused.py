# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((1000,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(1000),), data=A.data)
        for i in range(1000):
            A_1[T.Cast("int64", i)] = T.float32(0.0)
        for i in range(250):
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 0)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 1)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 2)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 3)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 4)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 5)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 6)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 7)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 8)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 9)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 10)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 11)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 12)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 13)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 14)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 15)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 16)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 17)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 18)]
            A_1[T.Cast("int64", i)] = A_1[T.Cast("int64", i)] + A_1[T.Cast("int64", 19)]
