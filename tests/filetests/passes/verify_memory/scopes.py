# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scopes(p: T.handle("float32", "shared"), A: T.Buffer((32,), "float32")):
        # Of a parameter, and of one that no target here has; local is one.
        P = T.decl_buffer((32,), data=p, scope="shared")
        S = T.alloc_buffer((32,), scope="shared.dyn")
        W = T.alloc_buffer((32,), scope="texture")
        L = T.alloc_buffer((32,), scope="local")
        for i in range(32):
            L[i] = A[i]
            S[i] = L[i]
            W[i] = S[i]
            P[i] = W[i]
