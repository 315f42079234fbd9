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

    @T.prim_func(s_tir=True)
    def rows(A: T.Buffer(("n", "d"), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        d = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min(T.Cast("int64", n), T.int64(65535)), thread="blockIdx.x"):
            for round in range((T.Cast("int64", n) + T.int64(65534)) // T.int64(65535)):
                if round * T.int64(65535) + bx < T.Cast("int64", n):
                    i: T.let[T.int32] = T.Cast("int32", round * T.int64(65535) + bx)
                    for tx in T.thread_binding(256, thread="threadIdx.x"):
                        for ko in range((d - 1) // 256 + 1):
                            with T.sblock("B"):
                                vi = T.axis.spatial(n, i)
                                vk = T.axis.reduce(d, ko * 256 + tx)
                                T.where(tx < d - ko * 256)
                                with T.init():
                                    B[vi] = T.float32(0.0)
                                B[vi] = B[vi] + A[vi, vk]

    @T.prim_func(s_tir=True)
    def whole(A: T.Buffer((9, 100), "int32"), B: T.Buffer((1,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(1, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for ko in range(4):
                    with T.sblock("B"):
                        vi = T.axis.reduce(9, (ko * 256 + tx) // 100)
                        vk = T.axis.reduce(100, (ko * 256 + tx) % 100)
                        T.where(tx < 900 - ko * 256)
                        with T.init():
                            B[0] = 5
                        B[0] = T.max(B[0], A[vi, vk] * 3)
