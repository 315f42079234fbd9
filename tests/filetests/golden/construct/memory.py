# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def memory(A_ptr: T.handle("float32", "global"), n: T.int32):
        A = T.decl_buffer((64,), data=A_ptr)
        W = T.decl_buffer((32, 2), data=A_ptr)
        p: T.let[T.handle("float32", "global")] = A_ptr
        X = T.decl_buffer((16,), data=p)
        S = T.alloc_buffer((4,), "int32", scope="shared", annotations={"tirx.volatile": True})
        R = T.alloc_buffer((4,), scope="local")
        N = T.alloc_buffer((n, 4))
        W[0, 0] = W[0, 1] + X[0]
        S[0] = 1
        R[0] = N[0, 1]
        A[1] = R[0]
        T.call_extern("int32", "touch", A_ptr, T.address_of(A[1]), S[0], T.float32(1.5))
        A[2] = T.call_pure_extern("float32", "sinf", A[3])
