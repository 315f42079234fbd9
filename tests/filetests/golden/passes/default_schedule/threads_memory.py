# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scopes(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((64,))
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("S"):
                    vi = T.axis.spatial(64, bx * 64 + tx)
                    t = T.sblock_alloc_buffer((2,), scope="local")
                    t[0] = A[vi]
                    t[1] = t[0] * t[0]
                    S[vi] = t[0] + t[1]
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(64, bx * 64 + tx)
                    B[vi] = S[63 - vi]

    @T.prim_func(s_tir=True)
    def large(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        t = T.alloc_buffer((n + 1,))
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(1, thread="threadIdx.x"):
                for i in range(64):
                    with T.sblock("A"):
                        vi = T.axis.spatial(64, i)
                        t[n] = A[vi]
                        A[vi] = t[n] + t[n]

    @T.prim_func(s_tir=True)
    def host_loop(A: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(8):
            t = T.alloc_buffer((i + 1,))
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(1, thread="threadIdx.x"):
                    t[i] = A[i]
                    A[i] = t[i] + t[i]
