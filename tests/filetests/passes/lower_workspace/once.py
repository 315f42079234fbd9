# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def once(A: T.Buffer((512,), "float32"), B: T.Buffer((512,), "float32"), n: T.int32):
        # Out of both loops: their size is known before them.
        for i in range(n):
            E = T.alloc_buffer((n,))
            E[0] = A[0]
            E[i] = A[i]
            for j in range(n):
                F = T.alloc_buffer((n + 7,))
                F[j] = E[i]
                B[i] = F[j]
        # Of two loops within one, each for itself: no more is live at once than before.
        for i in range(n):
            for j in range(n):
                G = T.alloc_buffer((2 * n,))
                G[j] = A[i]
                B[j] = G[j]
            for j in range(n):
                H = T.alloc_buffer((3 * n,))
                H[j] = A[i]
                B[j] = H[j]
        # Within the loop: its size depends on it, it is conditional, or others go before it.
        for i in range(n):
            K = T.alloc_buffer((i + 1,))
            K[0] = A[0]
            K[i] = A[i]
            B[i] = K[i]
            if A[i] > T.float32(0):
                L = T.alloc_buffer((4 * n,))
                L[0] = A[0]
                L[i] = A[i]
                B[i] = L[i]
            M = T.alloc_buffer((5 * n,))
            M[0] = A[0]
            M[i] = A[i]
            B[i] = M[i]
