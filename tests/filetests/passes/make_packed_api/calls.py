# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scale(X_ptr: T.handle("float32", "global"), f: T.float32, m: T.int32):
        X = T.decl_buffer((m,), data=X_ptr)
        for i in range(m):
            X[i] = X[i] * f

    @T.prim_func
    def kernel(A: T.Buffer(("n",), "float32")):
        n = T.int32()
        Module.scale(A.data, T.float32(2), n)
        Module.scale(A.data, T.float32(3), n)
