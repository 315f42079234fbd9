# tvm: accepted (a view has a layout to TVM)

@T.prim_func
def view(A_ptr: T.handle("float32", "global")):
    A = T.decl_buffer((64,), data=A_ptr)
    V = A.view(8, 8)
    V[0, 1] = A[3]
