# Reductions across threads whose other loops hold more than the block, or stand outside of the launch; as TVM's schedules
# make them.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def tiled_product(A: T.Buffer((24, 96), "float32"), X: T.Buffer((96,), "float32"), Y: T.Buffer((24,), "float32")):
        # A matrix times a vector: each step of the outer loop fetches a tile of both into shared memory first.
        X_shared = T.sblock_alloc_buffer((96,), scope="shared")
        A_shared = T.sblock_alloc_buffer((24, 96), scope="shared")
        for i_0 in T.thread_binding(6, thread="blockIdx.x"):
            for k_0 in range(3):
                for ax0_0 in range(2):
                    for ax0_1 in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("X_shared"):
                            v0 = T.axis.spatial(96, k_0 * 32 + ax0_0 * 16 + ax0_1)
                            T.reads(X[v0])
                            T.writes(X_shared[v0])
                            X_shared[v0] = X[v0]
                for ax0_ax1_fused_0 in range(8):
                    for ax0_ax1_fused_1 in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("A_shared"):
                            v0 = T.axis.spatial(24, i_0 * 4 + (ax0_ax1_fused_0 * 16 + ax0_ax1_fused_1) // 32)
                            v1 = T.axis.spatial(96, k_0 * 32 + (ax0_ax1_fused_0 * 16 + ax0_ax1_fused_1) % 32)
                            T.reads(A[v0, v1])
                            T.writes(A_shared[v0, v1])
                            A_shared[v0, v1] = A[v0, v1]
                for i_1, k_1 in T.grid(4, 2):
                    for k_2 in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("Y"):
                            vi = T.axis.spatial(24, i_0 * 4 + i_1)
                            vk = T.axis.reduce(96, k_0 * 32 + k_1 * 16 + k_2)
                            T.reads(A_shared[vi, vk], X_shared[vk])
                            T.writes(Y[vi])
                            with T.init():
                                Y[vi] = T.float32(0.0)
                            Y[vi] = Y[vi] + A_shared[vi, vk] * X_shared[vk]

    @T.prim_func(s_tir=True)
    def ragged_product(A: T.Buffer((24, 91), "float32"), X: T.Buffer((91,), "float32"), Y: T.Buffer((24,), "float32")):
        # Threads on two axes, a last tile that is not full, a memory of the tile's size.
        A_shared = T.sblock_alloc_buffer((4, 20), scope="shared")
        for i_0 in T.thread_binding(6, thread="blockIdx.x"):
            for k_0 in range(5):
                for ax0 in T.thread_binding(4, thread="threadIdx.y"):
                    for ax1 in T.thread_binding(20, thread="threadIdx.x"):
                        with T.sblock("A_shared"):
                            v0 = T.axis.spatial(24, i_0 * 4 + ax0)
                            v1 = T.axis.spatial(91, k_0 * 20 + ax1)
                            T.where(k_0 * 20 + ax1 < 91)
                            T.reads(A[v0, v1])
                            T.writes(A_shared[v0 % 4, v1 % 20])
                            A_shared[v0 % 4, v1 % 20] = A[v0, v1]
                for i_1 in T.thread_binding(4, thread="threadIdx.y"):
                    for k_1 in T.thread_binding(20, thread="threadIdx.x"):
                        with T.sblock("Y"):
                            vi = T.axis.spatial(24, i_0 * 4 + i_1)
                            vk = T.axis.reduce(91, k_0 * 20 + k_1)
                            T.where(k_0 * 20 + k_1 < 91)
                            T.reads(A_shared[vi % 4, vk % 20], X[vk])
                            T.writes(Y[vi])
                            with T.init():
                                Y[vi] = T.float32(0.0)
                            Y[vi] = Y[vi] + A_shared[vi % 4, vk % 20] * X[vk]

    @T.prim_func(s_tir=True)
    def two_of_a_tile(A: T.Buffer((8, 64), "int32"), S: T.Buffer((8,), "int32"), M: T.Buffer((8,), "int32")):
        # Two results of one tile; the start of one is no identity.
        A_shared = T.sblock_alloc_buffer((16,), "int32", scope="shared")
        for i in T.thread_binding(8, thread="blockIdx.x"):
            for k_0 in range(4):
                for ax0 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("A_shared"):
                        v0 = T.axis.spatial(8, i)
                        v1 = T.axis.spatial(64, k_0 * 16 + ax0)
                        A_shared[v1 % 16] = A[v0, v1]
                for k_1 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("S"):
                        vi = T.axis.spatial(8, i)
                        vk = T.axis.reduce(64, k_0 * 16 + k_1)
                        with T.init():
                            S[vi] = 7
                        S[vi] = S[vi] + A_shared[vk % 16]
                for k_1 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("M"):
                        vi = T.axis.spatial(8, i)
                        vk = T.axis.reduce(64, k_0 * 16 + k_1)
                        with T.init():
                            M[vi] = -3
                        M[vi] = T.max(M[vi], A_shared[vk % 16])

    @T.prim_func(s_tir=True)
    def so_far(A: T.Buffer((8, 64), "int32"), S: T.Buffer((8,), "int32"), P: T.Buffer((8, 4), "int32")):
        # What there is of the sum is read after each step.
        for i in T.thread_binding(8, thread="blockIdx.x"):
            for k_0 in range(4):
                for k_1 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("S"):
                        vi = T.axis.spatial(8, i)
                        vk = T.axis.reduce(64, k_0 * 16 + k_1)
                        with T.init():
                            S[vi] = 5
                        S[vi] = S[vi] + A[vi, vk]
                for t in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("P"):
                        vi, vk = T.axis.remap("SS", [i, k_0])
                        T.where(t == 0)
                        P[vi, vk] = S[vi]

    @T.prim_func(s_tir=True)
    def outside(A: T.Buffer((6, 4, 32), "float32"), B: T.Buffer((6,), "float32")):
        # Loops of the reduction around the launch.
        for k, i in T.grid(4, 6):
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                    T.reads(A[vi, vk, vl])
                    T.writes(B[vi])
                    with T.init():
                        B[vi] = T.float32(0.0)
                    B[vi] = B[vi] + A[vi, vk, vl]

    @T.prim_func(s_tir=True)
    def around_blocks(A: T.Buffer((6, 4, 32), "float32"), B: T.Buffer((6,), "float32")):
        for k in range(4):
            for i in T.thread_binding(6, thread="blockIdx.x"):
                for l in T.thread_binding(32, thread="threadIdx.x"):
                    with T.sblock("B"):
                        vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                        T.reads(A[vi, vk, vl])
                        T.writes(B[vi])
                        with T.init():
                            B[vi] = T.float32(0.0)
                        B[vi] = B[vi] + A[vi, vk, vl]

    @T.prim_func(s_tir=True)
    def among_launches(A: T.Buffer((4, 32), "int32"), W: T.Buffer((32,), "int32"), B: T.Buffer((1,), "int32")):
        # Each step of the loop outside is two launches: one fills what the other adds up.
        for k in range(4):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("W"):
                    vk = T.axis.opaque(4, k)
                    vt = T.axis.spatial(32, t)
                    W[vt] = A[vk, vt] * 2
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(1, 0)
                    vk, vl = T.axis.remap("RR", [k, l])
                    with T.init():
                        B[vi] = 3
                    B[vi] = B[vi] + W[vl]

    @T.prim_func(s_tir=True)
    def largest(A: T.Buffer((4, 32), "float32"), V: T.Buffer((1,), "float32"), Index: T.Buffer((1,), "int32")):
        for k in range(4):
            for l in T.thread_binding(32, thread="threadIdx.x"):
                with T.sblock("best"):
                    vi = T.axis.spatial(1, 0)
                    vk = T.axis.reduce(128, k * 32 + l)
                    with T.init():
                        Index[vi] = -1
                        V[vi] = T.float32("-inf")
                    at: T.let[T.int32] = T.Select(V[vi] >= A[vk // 32, vk % 32], Index[vi], vk)
                    best: T.let[T.float32] = T.Select(V[vi] >= A[vk // 32, vk % 32], V[vi], A[vk // 32, vk % 32])
                    Index[vi] = at
                    V[vi] = best

    @T.prim_func(s_tir=True)
    def late_results(A: T.Buffer((8, 64), "int32"), B: T.Buffer((8,), "int32")):
        # Some of the results, each thread having one of each; a second step of the reduction for each of them.
        for k_0 in T.thread_binding(32, thread="threadIdx.x"):
            for k_1 in range(2):
                for i in range(3, 7):
                    with T.sblock("B"):
                        vi = T.axis.spatial(8, i)
                        vk = T.axis.reduce(64, k_1 * 32 + k_0)
                        with T.init():
                            B[vi] = 1
                        B[vi] = B[vi] + A[vi, vk]
