# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def bytes(A: T.Buffer((40, 70), "uint8"), B: T.Buffer((70, 24), "int8"), C: T.Buffer((40, 24), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for k_0 in range(1):
            B_packed = T.alloc_buffer((1, 2, 16, 2, 64), "int8")
            for k_1_0 in T.parallel(2, annotations={"chipdock.grain": "auto"}):
                for k_1_1, j_0, j_1, j_2_k_1_2_fused_0 in T.grid(16, 1, 2, 16):
                    for j_2_k_1_2_fused_1 in T.unroll(4):
                        with T.sblock("B_packed"):
                            v_j_0, v_k_1_0, v_k_1_1, v_j_1 = T.axis.remap("SSSS", [j_0, k_1_0, k_1_1, j_1])
                            v_j_2_k_1_2_fused = T.axis.spatial(64, j_2_k_1_2_fused_0 * 4 + j_2_k_1_2_fused_1)
                            B_packed[v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2_k_1_2_fused] = T.if_then_else(v_k_1_0 * 64 + v_k_1_1 * 4 + v_j_2_k_1_2_fused % 4 < 70 and v_j_0 * 32 + v_j_1 * 16 + v_j_2_k_1_2_fused // 4 < 24, B[k_0 * 70 + v_k_1_0 * 64 + v_k_1_1 * 4 + v_j_2_k_1_2_fused % 4, v_j_0 * 32 + v_j_1 * 16 + v_j_2_k_1_2_fused // 4], T.int8(0))
            A_packed = T.alloc_buffer((2, 2, 32, 16, 4), "uint8")
            for i_0 in T.parallel(2, annotations={"chipdock.grain": "auto"}):
                for k_1_0, i_1 in T.grid(2, 32):
                    for k_1_1_k_1_2_fused in T.vectorized(64):
                        with T.sblock("A_packed"):
                            v_i_0, v_k_1_0, v_i_1 = T.axis.remap("SSS", [i_0, k_1_0, i_1])
                            v_k_1_1 = T.axis.spatial(16, k_1_1_k_1_2_fused // 4)
                            v_k_1_2 = T.axis.spatial(4, k_1_1_k_1_2_fused % 4)
                            A_packed[v_i_0, v_k_1_0, v_i_1, v_k_1_1, v_k_1_2] = T.if_then_else(v_k_1_0 * 64 + v_k_1_1 * 4 + v_k_1_2 < 70 and v_i_0 * 32 + v_i_1 < 40, A[v_i_0 * 32 + v_i_1, k_0 * 70 + v_k_1_0 * 64 + v_k_1_1 * 4 + v_k_1_2], T.uint8(0))
            for i_0 in T.parallel(2, annotations={"chipdock.grain": "auto"}):
                for j_0 in range(1):
                    C_acc = T.alloc_buffer((32, 2, 16), "int32", scope="local")
                    for i_1 in T.unroll(32):
                        for j_1 in T.unroll(2):
                            for j_2_k_1_2_fused_0 in T.vectorized(16):
                                with T.sblock("C_init"):
                                    v_i_1, v_j_1, v_j_2_k_1_2_fused_0 = T.axis.remap("SSS", [i_1, j_1, j_2_k_1_2_fused_0])
                                    C_acc[v_i_1, v_j_1, v_j_2_k_1_2_fused_0] = 0
                    for k_1_0 in T.serial(2, annotations={"chipdock.tiles": 1}):
                        for k_1_1, i_1, j_1 in T.grid(16, 32, 2):
                            C_acc[i_1, j_1, 0:16] = T.dot_add(C_acc[i_1, j_1, T.Ramp(0, 1, 16)], T.Shuffle([A_packed[i_0, k_1_0, i_1, k_1_1, T.Ramp(0, 1, 4)]], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]), B_packed[j_0, k_1_0, k_1_1, j_1, T.Ramp(0, 1, 64)])
                    for i_1 in T.unroll(32):
                        for j_1 in T.unroll(2):
                            for j_2_k_1_2_fused_0 in T.vectorized(16):
                                with T.sblock("C_back"):
                                    v_i_1, v_j_1, v_j_2_k_1_2_fused_0 = T.axis.remap("SSS", [i_1, j_1, j_2_k_1_2_fused_0])
                                    T.where(j_0 * 32 + j_1 * 16 + j_2_k_1_2_fused_0 < 24 and i_0 * 32 + i_1 < 40)
                                    C[i_0 * 32 + v_i_1, j_0 * 32 + v_j_1 * 16 + v_j_2_k_1_2_fused_0] = C_acc[v_i_1, v_j_1, v_j_2_k_1_2_fused_0]

    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((16, 64), "bfloat16"), B: T.Buffer((16, 64), "bfloat16"), C: T.Buffer((16, 16), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        least = T.alloc_buffer((2,), "uint16")
        least[0] = T.uint16(65535)
        A_flat = T.decl_buffer((T.int64(1024),), "bfloat16", data=A.data)
        for i in range(T.int64(1024)):
            with T.sblock("A_least"):
                v = T.axis.reduce(T.int64(1024), i)
                with T.init():
                    least[0] = T.uint16(65535)
                least[0] = T.min(least[0], (T.reinterpret("uint16", A_flat[v]) & T.uint16(32767)) - T.uint16(1))
        least[1] = T.uint16(65535)
        B_flat = T.decl_buffer((T.int64(1024),), "bfloat16", data=B.data)
        for i in range(T.int64(1024)):
            with T.sblock("B_least"):
                v = T.axis.reduce(T.int64(1024), i)
                with T.init():
                    least[1] = T.uint16(65535)
                least[1] = T.min(least[1], (T.reinterpret("uint16", B_flat[v]) & T.uint16(32767)) - T.uint16(1))
        if T.Cast("int32", least[0]) + 1 >> 7 >= 1 and T.Cast("int32", least[1]) + 1 >> 7 >= 1 and (T.Cast("int32", least[0]) + 1 >> 7) + (T.Cast("int32", least[1]) + 1 >> 7) >= 142:
            for k_0 in range(1):
                B_packed = T.alloc_buffer((1, 2, 16, 1, 32), "bfloat16")
                for j_0 in T.parallel(1, annotations={"chipdock.grain": "auto"}):
                    for k_1_0, k_1_1, j_1, j_2_k_1_2_fused_0 in T.grid(2, 16, 1, 16):
                        for j_2_k_1_2_fused_1 in T.unroll(2):
                            with T.sblock("B_packed"):
                                v_j_0, v_k_1_0, v_k_1_1, v_j_1 = T.axis.remap("SSSS", [j_0, k_1_0, k_1_1, j_1])
                                v_j_2_k_1_2_fused = T.axis.spatial(32, j_2_k_1_2_fused_0 * 2 + j_2_k_1_2_fused_1)
                                B_packed[v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2_k_1_2_fused] = B[v_j_0 * 16 + v_j_1 * 16 + v_j_2_k_1_2_fused // 2, k_0 * 64 + v_k_1_0 * 32 + v_k_1_1 * 2 + v_j_2_k_1_2_fused % 2]
                A_packed = T.alloc_buffer((1, 2, 16, 16, 2), "bfloat16")
                for i_0 in T.parallel(1, annotations={"chipdock.grain": "auto"}):
                    for k_1_0, i_1 in T.grid(2, 16):
                        for k_1_1_k_1_2_fused in T.vectorized(32):
                            with T.sblock("A_packed"):
                                v_i_0, v_k_1_0, v_i_1 = T.axis.remap("SSS", [i_0, k_1_0, i_1])
                                v_k_1_1 = T.axis.spatial(16, k_1_1_k_1_2_fused // 2)
                                v_k_1_2 = T.axis.spatial(2, k_1_1_k_1_2_fused % 2)
                                A_packed[v_i_0, v_k_1_0, v_i_1, v_k_1_1, v_k_1_2] = A[v_i_0 * 16 + v_i_1, k_0 * 64 + v_k_1_0 * 32 + v_k_1_1 * 2 + v_k_1_2]
                for i_0 in T.parallel(1, annotations={"chipdock.grain": "auto"}):
                    for j_0 in range(1):
                        C_acc = T.alloc_buffer((16, 1, 16), scope="local")
                        for i_1 in T.unroll(16):
                            for j_1 in T.unroll(1):
                                for j_2_k_1_2_fused_0 in T.vectorized(16):
                                    with T.sblock("C_init"):
                                        v_i_1, v_j_1, v_j_2_k_1_2_fused_0 = T.axis.remap("SSS", [i_1, j_1, j_2_k_1_2_fused_0])
                                        C_acc[v_i_1, v_j_1, v_j_2_k_1_2_fused_0] = T.float32(0.0)
                        for k_1_0 in T.serial(2, annotations={"chipdock.tiles": 1}):
                            for k_1_1, i_1, j_1 in T.grid(16, 16, 1):
                                C_acc[i_1, j_1, 0:16] = T.dot_add(C_acc[i_1, j_1, T.Ramp(0, 1, 16)], T.Shuffle([A_packed[i_0, k_1_0, i_1, k_1_1, T.Ramp(0, 1, 2)]], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]), B_packed[j_0, k_1_0, k_1_1, j_1, T.Ramp(0, 1, 32)])
                        for i_1 in T.unroll(16):
                            for j_1 in T.unroll(1):
                                for j_2_k_1_2_fused_0 in T.vectorized(16):
                                    with T.sblock("C_back"):
                                        v_i_1, v_j_1, v_j_2_k_1_2_fused_0 = T.axis.remap("SSS", [i_1, j_1, j_2_k_1_2_fused_0])
                                        C[i_0 * 16 + v_i_1, j_0 * 16 + v_j_1 * 16 + v_j_2_k_1_2_fused_0] = C_acc[v_i_1, v_j_1, v_j_2_k_1_2_fused_0]
        else:
            for k_0 in range(1):
                A_packed = T.alloc_buffer((4, 16, 4, 4))
                for i_0 in T.parallel(4, annotations={"chipdock.grain": "auto"}):
                    for k_1_0, i_1 in T.grid(16, 4):
                        for k_1_1 in T.vectorized(4):
                            with T.sblock("A_packed"):
                                v_i_0, v_k_1_0, v_i_1, v_k_1_1 = T.axis.remap("SSSS", [i_0, k_1_0, i_1, k_1_1])
                                A_packed[v_i_0, v_k_1_0, v_i_1, v_k_1_1] = T.Cast("float32", A[v_i_0 * 4 + v_i_1, k_0 * 64 + v_k_1_0 * 4 + v_k_1_1])
                B_packed = T.alloc_buffer((2, 16, 4, 2, 4))
                for j_0 in T.parallel(2, annotations={"chipdock.grain": "auto"}):
                    for k_1_0, k_1_1 in T.grid(16, 4):
                        for j_1 in T.unroll(2):
                            for j_2 in T.vectorized(4):
                                with T.sblock("B_packed"):
                                    v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2 = T.axis.remap("SSSSS", [j_0, k_1_0, k_1_1, j_1, j_2])
                                    B_packed[v_j_0, v_k_1_0, v_k_1_1, v_j_1, v_j_2] = T.Cast("float32", B[v_j_0 * 8 + v_j_1 * 4 + v_j_2, k_0 * 64 + v_k_1_0 * 4 + v_k_1_1])
                for i_0 in T.parallel(4, annotations={"chipdock.grain": "auto"}):
                    for j_0 in range(2):
                        C_acc = T.alloc_buffer((4, 2, 4), scope="local")
                        for i_1 in T.unroll(4):
                            for j_1 in T.unroll(2):
                                for j_2 in T.vectorized(4):
                                    with T.sblock("C_init"):
                                        v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                        C_acc[v_i_1, v_j_1, v_j_2] = T.float32(0.0)
                        for k_1_0, k_1_1 in T.grid(16, 4):
                            for i_1 in T.unroll(4):
                                for j_1 in T.unroll(2):
                                    for j_2 in T.vectorized(4):
                                        with T.sblock("C"):
                                            vi = T.axis.spatial(16, i_0 * 4 + i_1)
                                            vj = T.axis.spatial(16, j_0 * 8 + j_1 * 4 + j_2)
                                            vk = T.axis.reduce(64, k_0 * 64 + (k_1_0 * 4 + k_1_1))
                                            C_acc[i_1, j_1, j_2] = C_acc[i_1, j_1, j_2] + A_packed[i_0, k_1_0, i_1, k_1_1] * B_packed[j_0, k_1_0, k_1_1, j_1, j_2]
                        for i_1 in T.unroll(4):
                            for j_1 in T.unroll(2):
                                for j_2 in T.vectorized(4):
                                    with T.sblock("C_back"):
                                        v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                        C[i_0 * 4 + v_i_1, j_0 * 8 + v_j_1 * 4 + v_j_2] = C_acc[v_i_1, v_j_1, v_j_2]

    @T.prim_func(s_tir=True)
    def narrow(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 12), "int8"), C: T.Buffer((64, 12), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for k_0 in range(1):
            B_packed = T.alloc_buffer((1, 4, 4, 3, 16), "int8")
            for k_1_0_0 in T.parallel(4, annotations={"chipdock.grain": "auto"}):
                for k_1_0_1, j_0, j_1 in T.grid(4, 1, 3):
                    B_packed[j_0, k_1_0_0, k_1_0_1, j_1, 0:16] = T.Shuffle([B[k_0 * 64 + k_1_0_0 * 16 + k_1_0_1 * 4, T.Ramp(j_0 * 12 + j_1 * 4, 1, 4)], B[k_0 * 64 + k_1_0_0 * 16 + k_1_0_1 * 4 + 1, T.Ramp(j_0 * 12 + j_1 * 4, 1, 4)], B[k_0 * 64 + k_1_0_0 * 16 + k_1_0_1 * 4 + 2, T.Ramp(j_0 * 12 + j_1 * 4, 1, 4)], B[k_0 * 64 + k_1_0_0 * 16 + k_1_0_1 * 4 + 3, T.Ramp(j_0 * 12 + j_1 * 4, 1, 4)]], [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15])
            A_packed = T.alloc_buffer((16, 4, 4, 4, 4), "uint8")
            for i_0 in T.parallel(16, annotations={"chipdock.grain": "auto"}):
                for k_1_0_0, i_1 in T.grid(4, 4):
                    for k_1_0_1_k_1_1_fused in T.vectorized(16):
                        with T.sblock("A_packed"):
                            v_i_0, v_k_1_0_0, v_i_1 = T.axis.remap("SSS", [i_0, k_1_0_0, i_1])
                            v_k_1_0_1 = T.axis.spatial(4, k_1_0_1_k_1_1_fused // 4)
                            v_k_1_1 = T.axis.spatial(4, k_1_0_1_k_1_1_fused % 4)
                            A_packed[v_i_0, v_k_1_0_0, v_i_1, v_k_1_0_1, v_k_1_1] = A[v_i_0 * 4 + v_i_1, k_0 * 64 + v_k_1_0_0 * 16 + v_k_1_0_1 * 4 + v_k_1_1]
            for i_0 in T.parallel(16, annotations={"chipdock.grain": "auto"}):
                for j_0 in range(1):
                    C_acc = T.alloc_buffer((4, 3, 4), "int32", scope="local")
                    for i_1 in T.unroll(4):
                        for j_1 in T.unroll(3):
                            for j_2 in T.vectorized(4):
                                with T.sblock("C_init"):
                                    v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                    C_acc[v_i_1, v_j_1, v_j_2] = 0
                    for k_1_0_0, k_1_0_1 in T.grid(4, 4):
                        for i_1 in T.unroll(4):
                            for j_1 in T.unroll(3):
                                C_acc[i_1, j_1, 0:4] = T.dot_add(C_acc[i_1, j_1, T.Ramp(0, 1, 4)], T.Shuffle([A_packed[i_0, k_1_0_0, i_1, k_1_0_1, T.Ramp(0, 1, 4)]], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]), B_packed[j_0, k_1_0_0, k_1_0_1, j_1, T.Ramp(0, 1, 16)])
                    for i_1 in T.unroll(4):
                        for j_1 in T.unroll(3):
                            for j_2 in T.vectorized(4):
                                with T.sblock("C_back"):
                                    v_i_1, v_j_1, v_j_2 = T.axis.remap("SSS", [i_1, j_1, j_2])
                                    C[i_0 * 4 + v_i_1, j_0 * 12 + v_j_1 * 4 + v_j_2] = C_acc[v_i_1, v_j_1, v_j_2]
