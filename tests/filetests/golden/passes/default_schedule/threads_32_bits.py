# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def constant(A: T.Buffer((100, 30), "float32"), B: T.Buffer((100, 30), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(12, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                if tx < 3000 - bx * 256:
                    with T.sblock("B"):
                        vi = T.axis.spatial(100, (bx * 256 + tx) // 30)
                        vj = T.axis.spatial(30, (bx * 256 + tx) % 30)
                        B[vi, vj] = A[vi, vj] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n, m), "float32")):
        n = T.int32()
        m = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((n * m - 1) // 256 + 1, 65535), thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for round in range((n * m - 1) // 16776960 + 1):
                    if bx < (n * m - 1) // 256 - round * 65535 + 1 and tx < n * m - round * 16776960 - bx * 256:
                        with T.sblock("B"):
                            vi = T.axis.spatial(n, T.truncdiv(round * 16776960 + bx * 256 + tx, m))
                            vj = T.axis.spatial(m, T.truncmod(round * 16776960 + bx * 256 + tx, m))
                            B[vi, vj] = A[vi, vj] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def one_axis(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), k: T.int32):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min((n - 1) // 256 + 1, 65535), thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for round in range((n - 1) // 16776960 + 1):
                    if bx < (n - 1) // 256 - round * 65535 + 1 and tx < n - round * 16776960 - bx * 256:
                        B[round * 16776960 + bx * 256 + tx] = A[round * 16776960 + bx * 256 + tx]
        for bx in T.thread_binding(T.min((T.max(k, 0) - 1) // 256 + 1, 65535), thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for round in range((T.max(k, 0) - 1) // 16776960 + 1):
                    if bx < (T.max(k, 0) - 1) // 256 - round * 65535 + 1 and tx < T.max(k, 0) - round * 16776960 - bx * 256:
                        B[round * 16776960 + bx * 256 + tx] = A[round * 16776960 + bx * 256 + tx] + B[round * 16776960 + bx * 256 + tx]

    @T.prim_func(s_tir=True)
    def nothing(A: T.Buffer((4, 0), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        # with T.sblock("root"):
        pass

    @T.prim_func(s_tir=True)
    def reduction(A: T.Buffer(("n", 1000), "int32"), B: T.Buffer((n,), "int32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min(n, 65535), thread="blockIdx.x"):
            for round in range((n - 1) // 65535 + 1):
                if bx < n - round * 65535:
                    i: T.let[T.int32] = round * 65535 + bx
                    for tx in T.thread_binding(256, thread="threadIdx.x"):
                        for ko in range(4):
                            with T.sblock("B"):
                                vi = T.axis.spatial(n, i)
                                vk = T.axis.reduce(1000, ko * 256 + tx)
                                T.where(tx < 1000 - ko * 256)
                                with T.init():
                                    B[vi] = 0
                                B[vi] = B[vi] + A[vi, vk]
