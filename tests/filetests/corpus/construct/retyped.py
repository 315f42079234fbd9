# Pointers that are declared anew with another element type, while the memory is also used with its own.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def negate(p: T.handle("int32"), n: T.int32):
        P = T.decl_buffer((n,), "int32", data=p)
        for i in range(n):
            P[i] = T.bitwise_xor(P[i], -2147483647 - 1)

    @T.prim_func(private=True)
    def negate_again(p: T.handle("int32"), n: T.int32):
        Module.negate(p, n)

    @T.prim_func(s_tir=True)
    def passed(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            A[i] = T.Cast("float32", i) + T.float32(1)
        Module.negate(A.data, 4)
        Module.negate_again(T.address_of(A[4]), 2)
        for i in range(8):
            B[i] = A[i]

    @T.prim_func(private=True)
    def first_bytes(p: T.handle("uint8"), n: T.int32, value: T.uint8):
        P = T.decl_buffer((2 * n,), "uint8", data=p)
        for i in range(n):
            P[2 * i] = value

    @T.prim_func(s_tir=True)
    def narrow(A: T.Buffer((8,), "int16"), B: T.Buffer((8,), "int16")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            A[i] = T.Cast("int16", i * 256)
        Module.first_bytes(A.data, 8, T.uint8(7))
        for i in range(8):
            B[i] = A[i]

    @T.prim_func(s_tir=True)
    def named(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            A[i] = T.Cast("float32", i) + T.float32(1)
        p: T.let[T.handle("int32")] = T.address_of(A[2])
        P = T.decl_buffer((2,), "int32", data=p)
        Q = T.decl_buffer((2,), "int32", data=T.address_of(A[4]))
        for i in range(2):
            P[i] = T.bitwise_xor(P[i], -2147483647 - 1)
            Q[i] = T.bitwise_xor(Q[i], -2147483647 - 1)
        for i in range(8):
            B[i] = A[i]
