# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((34, 34), "float32"), W: T.Buffer((3, 3), "float32"), B: T.Buffer((32, 32), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        for i, j, y, x in T.grid(32, 32, 3, 3):
            with T.sblock("B"):
                vi, vj, vy, vx = T.axis.remap("SSRR", [i, j, y, x])
                with T.init():
                    B[vi, vj] = T.float32(0.0)
                B[vi, vj] = B[vi, vj] + A[vi + vy, vj + vx] * W[vy, vx]
