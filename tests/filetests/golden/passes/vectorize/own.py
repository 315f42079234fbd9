# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def buffers(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(64),), "float64", data=A.data)
        B_1 = T.decl_buffer((T.int64(64),), "float64", data=B.data)
        s = T.alloc_buffer((T.int64(4),), "float64", scope="local")
        t = T.alloc_buffer((T.int64(8),), "float64", scope="local")
        s[T.int64(0):T.int64(4)] = T.Broadcast(T.float64(0.0), 4)
        t[T.int64(0):T.int64(4)] = A_1[T.Ramp(T.int64(0), T.int64(1), 4)]
        for v in range(4):
            t[T.Cast("int64", v) + T.int64(4)] = T.fmod(t[T.Cast("int64", v)], A_1[T.Cast("int64", v)])
        for k in range(8):
            s[T.int64(0):T.int64(4)] = s[T.Ramp(T.int64(0), T.int64(1), 4)] + A_1[T.Ramp(T.Cast("int64", k) * T.int64(4), T.int64(1), 4)] * t[T.Ramp(T.int64(4), T.int64(1), 4)]
        B_1[T.int64(0):T.int64(4)] = s[T.Ramp(T.int64(0), T.int64(1), 4)]
