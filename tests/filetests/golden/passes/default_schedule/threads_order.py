# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prefix(A: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(1, thread="threadIdx.x"):
                for i in range(63):
                    A[i + 1] = A[i + 1] + A[i]

    @T.prim_func(s_tir=True)
    def steps(A: T.Buffer((8, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for t in range(7):
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(64, thread="threadIdx.x"):
                    A[t + 1, bx * 64 + tx] = A[t, 63 - (bx * 64 + tx)] * T.float32(0.5)
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(1, thread="threadIdx.x"):
                    A[t + 1, 0] = T.float32(1.0)

    @T.prim_func(s_tir=True)
    def digits(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                B[(bx * 64 + tx) // 8 * 8 + (bx * 64 + tx) % 8] = A[(bx * 64 + tx) % 8 * 8 + (bx * 64 + tx) // 8]
        for i in range(8):
            for bx in T.thread_binding(1, thread="blockIdx.x"):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    B[i * 7 + (bx * 8 + tx)] = A[(bx * 8 + tx) * 8 + i]

    @T.prim_func(s_tir=True)
    def may_overlap(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(1, thread="threadIdx.x"):
                for i in range(64):
                    B[i] = A[i]
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                for i_v in T.vectorized(4):
                    B[bx * 64 + tx * 4 + i_v] = A[bx * 64 + tx * 4 + i_v]

    @T.prim_func(s_tir=True)
    def other_row(A: T.Buffer((2, 64), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                A[1, bx * 64 + tx] = A[0, 63 - (bx * 64 + tx)]
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(1, thread="threadIdx.x"):
                for i in range(64):
                    A[1, i] = A[1, 63 - i]
