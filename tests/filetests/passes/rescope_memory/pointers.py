from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def pointers(q: T.handle("float32", "shared"), A: T.Buffer((32,), "float32")):
        # Pointers to such memory, and views of it; what belongs to no thread stays.
        Q = T.decl_buffer((32,), data=q, scope="shared")
        S = T.alloc_buffer((32,), scope="warp")
        M = T.alloc_buffer((32,), scope="wmma.accumulator")
        W = T.alloc_buffer((32,), scope="texture")
        p: T.let[T.handle("float32", "warp")] = S.data
        P = T.decl_buffer((8, 4), data=p, scope="warp")
        for i in range(32):
            S[i] = A[i] + Q[i]
            M[i] = P[i // 4, i % 4]
            W[i] = M[i]
            A[i] = W[i]
