# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def function(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64"), C: T.Buffer((64,), "float64"), N: T.Buffer((64,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), "float64", data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), "float64", data=B.data)
        C_1 = T.decl_buffer((T.int64(64),), "float64", data=C.data)
        N_1 = T.decl_buffer((T.int64(64),), "int32", data=N.data)
        x: T.let = A_1[T.Ramp(T.int64(0), T.int64(1), 8)] * T.Broadcast(T.float64(2.0), 8)
        B_1[T.int64(0):T.int64(8)] = x + T.Broadcast(T.float64(1.0), 8)
        mask: T.let = N_1[T.Ramp(T.int64(0), T.int64(1), 8)] > T.Broadcast(3, 8)
        T.masked_store(C_1, x, T.Ramp(T.int64(0), T.int64(1), 8), mask)
        for v in range(8):
            x_1: T.let[T.float64] = A_1[T.Cast("int64", v)] * T.float64(2.0)
            y: T.let[T.float64] = T.fmod(x_1, T.float64(3.0))
            if N_1[T.Cast("int64", v)] > 3:
                B_1[T.Cast("int64", v)] = y + B_1[T.Cast("int64", v)]

    @T.prim_func
    def bounds(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32"), N: T.Buffer((64,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), data=B.data)
        C_1 = T.decl_buffer((T.int64(64),), data=C.data)
        N_1 = T.decl_buffer((T.int64(64),), "int32", data=N.data)
        C_1[T.int64(0):T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
        for v in range(8):
            for k in range(N_1[T.Cast("int64", v)]):
                C_1[T.Cast("int64", v)] = C_1[T.Cast("int64", v)] + A_1[T.Cast("int64", k)]
        B_1[T.int64(0):T.int64(8)] = C_1[T.Ramp(T.int64(0), T.int64(1), 8)] * C_1[T.Ramp(T.int64(0), T.int64(1), 8)]
        B_1[T.int64(0):T.int64(8)] = B_1[T.Ramp(T.int64(0), T.int64(1), 8)] + T.Broadcast(T.float32(1.0), 8)
        for v, k in T.grid(8, 4):
            if A_1[T.Cast("int64", k) * T.int64(8) + T.Cast("int64", v)] > T.float32(0.0):
                break
            B_1[T.Cast("int64", v)] = B_1[T.Cast("int64", v)] + A_1[T.Cast("int64", k) * T.int64(8) + T.Cast("int64", v)]
