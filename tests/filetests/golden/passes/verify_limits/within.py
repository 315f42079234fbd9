# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def within(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((1024,), data=A.data)
        B_1 = T.decl_buffer((1024,), data=B.data)
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            with T.attr({"chipdock.implicit_barriers": 1}):
                for tx in T.thread_binding(256, thread="threadIdx.x"):
                    B_1[bx * 256 + tx] = A_1[bx * 256 + tx] * T.float32(2.0)
