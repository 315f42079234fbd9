# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def quantised(A: T.Buffer((16,), "int32"), C: T.Buffer((16,), "int8")):
        # with T.sblock("root"):
        A[0] = T.q_multiply_shift(A[0], A[1], 31, -2)
        A[1] = T.q_multiply_shift_per_axis(A[0], A[1], A[2], A[3], 31, 1, 0)
        A[2] = T.dp4a(C[T.Ramp(0, 1, 4)], C[T.Ramp(4, 1, 4)], A[2])
        A[3] = T.dp4a(C[T.Ramp(0, 1, 4)], C[T.Ramp(4, 1, 4)], 0)

    @T.prim_func(s_tir=True)
    def by_full_name(A: T.Buffer((16,), "float32"), U: T.Buffer((16,), "uint32"), B: T.Buffer((16,), "uint8")):
        # with T.sblock("root"):
        A[0] = T.exp(A[1])
        A[1] = T.call_intrin("float32", "tirx.atomic_add", T.address_of(A[1]), A[2])
        T.call_intrin("float32", "tirx.atomic_add", T.address_of(A[1]), T.float32(0.5))
        U[0] = T.call_intrin("uint32", "tirx.dp4a", B[T.Ramp(0, 1, 4)], B[T.Ramp(4, 1, 4)], U[1])
        U[1] = T.reinterpret("uint32", A[3])

    @T.prim_func(s_tir=True)
    def pointers(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 16, 1)
        T.call_extern("int32", "fill", T.tvm_access_ptr(T.type_annotation("float32"), A.data, n, 16, 3), 16)
        p: T.let[T.handle] = T.call_intrin(T.handle().ty, "prim.if_then_else", n > 3, T.handle_add_byte_offset(A.data, 64), T.address_of(A[0]))
        q: T.let[T.handle("int64", "global")] = T.reinterpret(T.handle("int64", "global").ty, p)
        V = T.decl_buffer((4,), "int64", data=q)
        V[0] = T.int64(1)

    @T.prim_func(s_tir=True)
    def masked(A: T.Buffer((64,), "float32"), M: T.Buffer((8, 8), "int32"), n: T.int32):
        # with T.sblock("root"):
        A[0:4] = T.masked_load("float32x4", A, T.Ramp(n, 1, 4), T.Ramp(n, 1, 4) < T.Broadcast(60, 4))
        T.masked_store(A, T.Broadcast(T.float32(1.0), 4), T.Ramp(n, 2, 4), T.Ramp(n, 2, 4) < T.Broadcast(60, 4))
        T.masked_store(M, T.masked_load("int32x4", M, n, T.Ramp(0, 1, 4), T.Broadcast(n < 8, 4)), 1, T.Ramp(4, 1, 4), T.Broadcast(n < 8, 4))

    @T.prim_func(s_tir=True)
    def jumps(A: T.Buffer((64,), "uint32"), n: T.int32):
        # with T.sblock("root"):
        for i in range(64):
            if i == n:
                break
            if i % 2 == 0:
                continue
            A[i] = T.abs(A[i])
