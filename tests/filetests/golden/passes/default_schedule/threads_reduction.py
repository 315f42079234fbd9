# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def columns(A: T.Buffer((16, 300), "float32"), B: T.Buffer((300,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                if bx * 256 + tx < 300:
                    for k in range(16):
                        with T.sblock("B"):
                            vk = T.axis.reduce(16, k)
                            vj = T.axis.spatial(300, bx * 256 + tx)
                            with T.init():
                                B[vj] = T.float32(0.0)
                            B[vj] = B[vj] + A[vk, vj]
