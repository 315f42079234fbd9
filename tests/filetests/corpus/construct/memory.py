# tvm: accepted (TVM tells A.data from the pointer that A was declared over)
# Allocations, views and pointers.

@T.prim_func
def memory(A_ptr: T.handle("float32", "global"), n: T.int32):
    A = T.decl_buffer((64,), data=A_ptr)
    W = T.decl_buffer((32, 2), data=A.data)
    p = A.data
    X = T.decl_buffer((16,), data=p)
    S = T.alloc_buffer((4,), "int32", scope="shared", annotations={"tirx.volatile": True})
    R = T.alloc_local((4,))
    N = T.decl_buffer((n, 4))
    W[0, 0] = W[0, 1] + X[0]
    S[0] = 1
    R[0] = N[0, 1]
    A[1] = R[0]
    T.call_extern("int32", "touch", A.data, T.address_of(A[1]), S[0], 1.5)
    A[2] = T.call_pure_extern("float32", "sinf", A[3])
