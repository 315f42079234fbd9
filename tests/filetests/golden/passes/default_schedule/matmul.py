# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 48), "float32"), C: T.Buffer((64, 48), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""})})
        # with T.sblock("root"):
        if (T.reinterpret("uint64", A.data) + T.uint64(4) * T.Cast("uint64", 64) * T.Cast("uint64", 32) <= T.reinterpret("uint64", C.data) or T.reinterpret("uint64", C.data) + T.uint64(4) * T.Cast("uint64", 64) * T.Cast("uint64", 48) <= T.reinterpret("uint64", A.data)) and (T.reinterpret("uint64", B.data) + T.uint64(4) * T.Cast("uint64", 32) * T.Cast("uint64", 48) <= T.reinterpret("uint64", C.data) or T.reinterpret("uint64", C.data) + T.uint64(4) * T.Cast("uint64", 64) * T.Cast("uint64", 48) <= T.reinterpret("uint64", B.data)):
            for k_0 in range(1):
                A_packed = T.alloc_buffer((16, 8, 4, 4))
                for i_0 in T.parallel(16, annotations={"chipdock.grain": "auto"}):
                    for k_1_0, i_1 in T.grid(8, 4):
                        for k_1_1 in T.vectorized(4):
                            with T.sblock("A_packed"):
                                v_i_0, v_k_1_0, v_i_1, v_k_1_1 = T.axis.remap("SSSS", [i_0, k_1_0, i_1, k_1_1])
                                A_packed[v_i_0, v_k_1_0, v_i_1, v_k_1_1] = A[v_i_0 * 4 + v_i_1, k_0 * 32 + v_k_1_0 * 4 + v_k_1_1]
                B_packed = T.alloc_buffer((4, 8, 4, 3, 4))
                for k_1_0 in T.parallel(8, annotations={"chipdock.grain": "auto"}):
                    for k_1_1, j_0 in T.grid(4, 4):
                        for j_1 in T.unroll(3):
                            for j_2 in T.vectorized(4):
                                with T.sblock("B_packed"):
                                    v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2 = T.axis.remap("SSSSS", [j_0, k_1_0, k_1_1, j_1, j_2])
                                    B_packed[v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2] = B[k_0 * 32 + v_k_1_0 * 4 + v_k_1_1, v_j_0 * 12 + v_j_1 * 4 + v_j_2]
                for i_0 in T.parallel(16, annotations={"chipdock.grain": "auto"}):
                    for j_0 in range(4):
                        C_acc = T.alloc_buffer((4, 3, 4), scope="local")
                        for i_1 in T.unroll(4):
                            for j_1 in T.unroll(3):
                                for j_2 in T.vectorized(4):
                                    with T.sblock("C_init"):
                                        v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                        C_acc[v_i_1, v_j_1, v_j_2] = T.float32(0.0)
                        for k_1_0, k_1_1 in T.grid(8, 4):
                            for i_1 in T.unroll(4):
                                for j_1 in T.unroll(3):
                                    for j_2 in T.vectorized(4):
                                        with T.sblock("C"):
                                            vi = T.axis.spatial(64, i_0 * 4 + i_1)
                                            vj = T.axis.spatial(48, j_0 * 12 + j_1 * 4 + j_2)
                                            vk = T.axis.reduce(32, k_0 * 32 + (k_1_0 * 4 + k_1_1))
                                            C_acc[i_1, j_1, j_2] = C_acc[i_1, j_1, j_2] + A_packed[i_0, k_1_0, i_1, k_1_1] * B_packed[j_0, k_1_0, k_1_1, j_1, j_2]
                        for i_1 in T.unroll(4):
                            for j_1 in T.unroll(3):
                                for j_2 in T.vectorized(4):
                                    with T.sblock("C_back"):
                                        v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                        C[i_0 * 4 + v_i_1, j_0 * 12 + v_j_1 * 4 + v_j_2] = C_acc[v_i_1, v_j_1, v_j_2]
        else:
            for i in T.parallel(64, annotations={"chipdock.grain": "auto"}):
                for k, j in T.grid(32, 48):
                    with T.sblock("C"):
                        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                        with T.init():
                            C[vi, vj] = T.float32(0.0)
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
