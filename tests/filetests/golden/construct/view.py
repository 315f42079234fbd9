# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def view(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((64,), data=A_ptr)
        V = T.decl_buffer((8, 8), data=A_ptr)
        V[0, 1] = A[3]
