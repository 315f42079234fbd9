# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            with T.attr({"chipdock.implicit_barriers": 1}):
                B[bx] = A[bx] * T.float32(2.0)
