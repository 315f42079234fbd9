# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer(("n", "m"), "float32"), S: T.Buffer((n,), "float32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for i in T.parallel(n):
            if m > 0:
                S[i] = T.float32(0.0)
            for k in range(m):
                S[i] = S[i] + A[i, k]
