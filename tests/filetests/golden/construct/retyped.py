# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def negate(p: T.handle("int32", "global"), n: T.int32):
        T.func_attr({"tirx.is_global_func": False})
        P = T.decl_buffer((n,), "int32", data=p)
        for i in range(n):
            P[i] = P[i] ^ -2147483648

    @T.prim_func
    def negate_again(p: T.handle("int32", "global"), n: T.int32):
        T.func_attr({"tirx.is_global_func": False})
        Module.negate(p, n)

    @T.prim_func(s_tir=True)
    def passed(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            A[i] = T.Cast("float32", i) + T.float32(1.0)
        Module.negate(A.data, 4)
        Module.negate_again(T.address_of(A[4]), 2)
        for i in range(8):
            B[i] = A[i]

    @T.prim_func
    def first_bytes(p: T.handle("uint8", "global"), n: T.int32, value: T.uint8):
        T.func_attr({"tirx.is_global_func": False})
        P = T.decl_buffer((2 * n,), "uint8", data=p)
        for i in range(n):
            P[2 * i] = value

    @T.prim_func(s_tir=True)
    def narrow(A: T.Buffer((8,), "int16"), B: T.Buffer((8,), "int16"), x: T.uint8):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            A[i] = T.Cast("int16", i * 256)
        Module.first_bytes(A.data, 8, x)
        for i in range(8):
            B[i] = A[i]

    @T.prim_func(s_tir=True)
    def named(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            A[i] = T.Cast("float32", i) + T.float32(1.0)
        p: T.let[T.handle("int32", "global")] = T.address_of(A[2])
        P = T.decl_buffer((2,), "int32", data=p)
        Q = T.decl_buffer((2,), "int32", data=T.address_of(A[4]))
        for i in range(2):
            P[i] = P[i] ^ -2147483648
            Q[i] = Q[i] ^ -2147483648
        for i in range(8):
            B[i] = A[i]
