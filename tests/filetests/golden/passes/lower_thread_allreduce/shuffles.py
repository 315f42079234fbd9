# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def rows(A: T.Buffer((37, 100), "float32"), B: T.Buffer((37,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((3700,), data=A.data)
        B_1 = T.decl_buffer((37,), data=B.data)
        for i in T.thread_binding(37, thread="blockIdx.x"):
            B_own = T.alloc_buffer((1,), scope="local")
            B_own[0] = T.float32(0.0)
            for ko in range(4):
                for ki in T.thread_binding(32, thread="threadIdx.x"):
                    if ko * 32 + ki < 100:
                        B_own[0] = B_own[0] + A_1[i * 100 + ko * 32 + ki]
            for ki in T.thread_binding(32, thread="threadIdx.x"):
                own: T.let[T.float32] = B_own[0]
                mask: T.let[T.uint32] = T.tvm_warp_activemask()
                other: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, own, 16, 32, 32)
                both: T.let[T.float32] = own + other
                other_1: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both, 8, 32, 32)
                both_1: T.let[T.float32] = both + other_1
                other_2: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both_1, 4, 32, 32)
                both_2: T.let[T.float32] = both_1 + other_2
                other_3: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both_2, 2, 32, 32)
                both_3: T.let[T.float32] = both_2 + other_3
                other_4: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both_3, 1, 32, 32)
                both_4: T.let[T.float32] = both_3 + other_4
                all: T.let[T.float32] = T.tvm_warp_shuffle(mask, both_4, 0, 32, 32)
                B_own[0] = all
                if ki == 0:
                    B_1[i] = B_own[0]

    @T.prim_func
    def several(A: T.Buffer((6, 5, 3), "int32"), M: T.Buffer((6,), "int32"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((90,), "int32", data=A.data)
        M_1 = T.decl_buffer((6,), "int32", data=M.data)
        for y in T.thread_binding(6, thread="threadIdx.y"):
            for x in T.thread_binding(5, thread="threadIdx.x"):
                for z in T.thread_binding(3, thread="threadIdx.z"):
                    M_own = T.alloc_buffer((1,), "int32", scope="local")
                    M_own[0] = 0
                    M_own[0] = M_own[0] + A_1[y * 15 + x * 3 + z]
                    own: T.let[T.int32] = M_own[0]
                    red = T.alloc_buffer((90,), "int32", scope="shared")
                    red[y * 15 + x + z * 5] = own
                    T.tvm_storage_sync("shared")
                    if x + z * 5 < 7:
                        own_1: T.let[T.int32] = red[y * 15 + x + z * 5]
                        other: T.let[T.int32] = red[y * 15 + x + z * 5 + 8]
                        both: T.let[T.int32] = own_1 + other
                        red[y * 15 + x + z * 5] = both
                    T.tvm_storage_sync("shared")
                    if x + z * 5 < 4:
                        own_2: T.let[T.int32] = red[y * 15 + x + z * 5]
                        other: T.let[T.int32] = red[y * 15 + x + z * 5 + 4]
                        both: T.let[T.int32] = own_2 + other
                        red[y * 15 + x + z * 5] = both
                    T.tvm_storage_sync("shared")
                    if x + z * 5 < 2:
                        own_3: T.let[T.int32] = red[y * 15 + x + z * 5]
                        other: T.let[T.int32] = red[y * 15 + x + z * 5 + 2]
                        both: T.let[T.int32] = own_3 + other
                        red[y * 15 + x + z * 5] = both
                    T.tvm_storage_sync("shared")
                    if x + z * 5 < 1:
                        own_4: T.let[T.int32] = red[y * 15 + x + z * 5]
                        other: T.let[T.int32] = red[y * 15 + x + z * 5 + 1]
                        both: T.let[T.int32] = own_4 + other
                        red[y * 15 + x + z * 5] = both
                    T.tvm_storage_sync("shared")
                    M_own[0] = red[y * 15]
                    if x == 0 and z == 0:
                        M_1[y] = n + M_own[0]

    @T.prim_func
    def onto(A: T.Buffer((4, 8), "float32"), P: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((32,), data=A.data)
        P_1 = T.decl_buffer((4,), data=P.data)
        for i in T.thread_binding(4, thread="blockIdx.x"):
            for k in T.thread_binding(8, thread="threadIdx.x"):
                P_own = T.alloc_buffer((1,), scope="local")
                P_own[0] = T.float32(1.0)
                P_own[0] = P_own[0] * A_1[i * 8 + k]
                own: T.let[T.float32] = P_own[0]
                mask: T.let[T.uint32] = T.tvm_warp_activemask()
                other: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, own, 4, 8, 32)
                both: T.let[T.float32] = own * other
                other_1: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both, 2, 8, 32)
                both_1: T.let[T.float32] = both * other_1
                other_2: T.let[T.float32] = T.tvm_warp_shuffle_down(mask, both_1, 1, 8, 32)
                both_2: T.let[T.float32] = both_1 * other_2
                all: T.let[T.float32] = T.tvm_warp_shuffle(mask, both_2, 0, 8, 32)
                P_own[0] = all
                if k == 0:
                    P_1[i] = P_1[i] * P_own[0]
