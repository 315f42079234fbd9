# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def conv2d(P: T.Buffer(("n", 3, 18, 18), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), O: T.Buffer((n, 8, 16, 16), "float32")):
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for bx in T.thread_binding(T.min(T.Cast("int64", n), T.int64(65535)), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(256), thread="threadIdx.x"):
                for round in range((T.Cast("int64", n) + T.int64(65534)) // T.int64(65535)):
                    if round * T.int64(16776960) + bx * T.int64(256) + tx < T.Cast("int64", n) * T.int64(256):
                        b: T.let[T.int32] = T.Cast("int32", T.truncdiv(round * T.int64(16776960) + bx * T.int64(256) + tx, T.int64(256)))
                        h: T.let[T.int32] = T.Cast("int32", (round * T.int64(16776960) + bx * T.int64(256) + tx) // T.int64(16) % T.int64(16))
                        w: T.let[T.int32] = T.Cast("int32", (round * T.int64(16776960) + bx * T.int64(256) + tx) % T.int64(16))
                        O_sums = T.alloc_buffer((8,), scope="local")
                        for f in T.unroll(8):
                            O_sums[f] = T.float32(0.0)
                        for c, kh, kw in T.grid(3, 3, 3):
                            for f in T.unroll(8):
                                O_sums[f] = O_sums[f] + P[b, c, h + kh, w + kw] * W[T.Mul(0, 8) + f, c, kh, kw]
                        for f in T.unroll(8):
                            O[b, T.Mul(0, 8) + f, h, w] = O_sums[f]
