# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def extents(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        A_1 = T.decl_buffer((T.int64(1024),), data=A.data)
        B_1 = T.decl_buffer((T.int64(1024),), data=B.data)
        for v_outer in range(8):
            B_1[T.Cast("int64x128", T.Ramp(v_outer * 128, 1, 128))] = A_1[T.Cast("int64x128", T.Ramp(v_outer * 128, 1, 128))]
        for v_outer in range(3):
            B_1[T.Cast("int64x4", T.Ramp(v_outer * 4, 1, 4)) * T.Broadcast(T.int64(2), 4)] = A_1[T.Cast("int64x4", T.Ramp(v_outer * 4, 1, 4))]
        B_1[T.int64(0):T.int64(2)] = A_1[T.Ramp(T.int64(2), T.int64(1), 2)]
