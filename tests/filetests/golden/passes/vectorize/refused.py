# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def lanes(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), "float64", data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), "float64", data=B.data)
        for v in range(8):
            A_1[T.Cast("int64", v) + T.int64(1)] = A_1[T.Cast("int64", v)]
        for v in range(3):
            B_1[T.Cast("int64", v)] = A_1[T.Cast("int64", v)]
        for v in range(8):
            B_1[T.Cast("int64", v // 2)] = A_1[T.Cast("int64", v)]
        for v in range(8):
            B_1[T.Cast("int64", v)] = T.fmod(A_1[T.Cast("int64", v)], B_1[T.Cast("int64", v)])
        for k in range(4):
            B_1[T.Ramp(T.Cast("int64", k) * T.int64(4), T.int64(2), 2)] = A_1[T.Ramp(T.int64(0), T.int64(2), 2)]

    @T.prim_func
    def statements(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        for v in range(4):
            assert A_1[T.Cast("int64", v)] > T.float32(-100.0), ("RuntimeError", ["above"])
            B_1[T.Cast("int64", v)] = A_1[T.Cast("int64", v)]
        for v in range(4):
            B_1[T.Cast("int64", T.max(T.Cast("int32", A_1[T.Cast("int64", v)]), 0))] = T.float32(1.0)
