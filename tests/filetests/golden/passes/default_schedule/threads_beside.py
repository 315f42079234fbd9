# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def beside(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        assert n > 3, ("RuntimeError", ["n must be large"])
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            A[tx] = T.float32(0.0)
        if n > 10:
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for i_v in T.vectorized(4):
                        B[bx * 64 + tx * 4 + i_v] = A[bx * 64 + tx * 4 + i_v]
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(1, thread="threadIdx.x"):
                    B[0] = A[1]
                    if A[0] > T.float32(0.0):
                        pass
                    else:
                        B[1] = A[2]
        else:
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(1, thread="threadIdx.x"):
                    B[n] = A[n]
