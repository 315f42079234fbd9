# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def buffers(A: T.Buffer((64,), "float64"), B: T.Buffer((64,), "float64")):
        # Buffers of the body: one for each lane, in what runs lane by lane too.
        for v in T.vectorized(4):
            s = T.alloc_buffer((1,), "float64", scope="local")
            t = T.alloc_buffer((2,), "float64", scope="local")
            s[0] = T.float64(0)
            t[0] = A[v]
            t[1] = T.fmod(t[0], A[v])
            for k in range(8):
                s[0] = s[0] + A[k * 4 + v] * t[1]
            B[v] = s[0]
