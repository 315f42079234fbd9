# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def pointers(q: T.handle("float32", "global"), A: T.Buffer((32,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        Q = T.decl_buffer((32,), data=q)
        S = T.alloc_buffer((32,))
        M = T.alloc_buffer((1,))
        W = T.alloc_buffer((1,), scope="texture")
        p: T.let[T.handle("float32", "global")] = S.data
        P = T.decl_buffer((8, 4), data=p)
        for i in range(32):
            S[i] = A[i] + Q[i]
            M[0] = P[i // 4, i % 4]
            W[0] = M[0]
            A[i] = W[0]
