# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def vectors(A: T.Buffer((64,), "float32"), V: T.Buffer((16,), "float32x4"), M: T.Buffer((4, 16), "float32"), n: T.int32):
        # with T.sblock("root"):
        A[0:4] = T.Broadcast(T.float32(2.0), 4)
        A[n:n + 4] = A[T.Ramp(n + 4, 1, 4)] * T.Broadcast(T.float32(2.0), 4)
        A[T.Ramp(0, 2, 4)] = A[T.Ramp(0, 1, 4)] + T.Broadcast(T.float32(1.0), 4)
        A[n * 4 + 8:n * 4 + 8 + 4] = A[T.Ramp(n * 4, 1, 4)]
        M[n, 0:8] = M[n, T.Ramp(8, 1, 8)]
        V[n] = V[n + 1] * T.Broadcast(T.float32(0.5), 4)
        A[0:4] = T.Select(A[T.Ramp(0, 1, 4)] < A[T.Ramp(4, 1, 4)], A[T.Ramp(8, 1, 4)], T.Broadcast(T.float32(0.0), 4))
        A[0:4] = T.Cast("float32x4", T.Ramp(n, 1, 4))
        A[0:2] = T.Shuffle([A[T.Ramp(0, 1, 4)]], [3, 0])
