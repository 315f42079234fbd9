# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((100, 64), "float32"), S: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        for jo in range(4):
            for ji in range(16):
                S[jo * 16 + ji] = T.float32(0.0)
            for ko, ji, ki in T.grid(7, 16, 16):
                if ko * 16 + ki < 100:
                    S[jo * 16 + ji] = S[jo * 16 + ji] + A[ko * 16 + ki, jo * 16 + ji]
