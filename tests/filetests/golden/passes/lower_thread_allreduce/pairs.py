# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def argmax(A: T.Buffer((4, 24), "float32"), V: T.Buffer((4,), "float32"), Index: T.Buffer((4,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((96,), data=A.data)
        V_1 = T.decl_buffer((4,), data=V.data)
        Index_1 = T.decl_buffer((4,), "int32", data=Index.data)
        for i in T.thread_binding(4, thread="blockIdx.x"):
            Index_own = T.alloc_buffer((1,), "int32", scope="local")
            V_own = T.alloc_buffer((1,), scope="local")
            Index_own[0] = -1
            V_own[0] = T.float32("-inf")
            for ko in range(3):
                for ki in T.thread_binding(8, thread="threadIdx.x"):
                    at: T.let[T.int32] = T.Select(V_own[0] > A_1[i * 24 + ko * 8 + ki], Index_own[0], ko * 8 + ki)
                    best: T.let[T.float32] = T.Select(V_own[0] > A_1[i * 24 + ko * 8 + ki], V_own[0], A_1[i * 24 + ko * 8 + ki])
                    Index_own[0] = at
                    V_own[0] = best
            for ki in T.thread_binding(8, thread="threadIdx.x"):
                own: T.let[T.int32] = Index_own[0]
                own_1: T.let[T.float32] = V_own[0]
                red = T.alloc_buffer((8,), "int32", scope="shared")
                red_1 = T.alloc_buffer((8,), scope="shared")
                red[ki] = own
                red_1[ki] = own_1
                T.tvm_storage_sync("shared")
                if ki < 4:
                    own_2: T.let[T.int32] = red[ki]
                    own_3: T.let[T.float32] = red_1[ki]
                    other: T.let[T.int32] = red[ki + 4]
                    other_1: T.let[T.float32] = red_1[ki + 4]
                    both: T.let[T.int32] = T.Select(own_3 > other_1, own_2, other)
                    both_1: T.let[T.float32] = T.Select(own_3 > other_1, own_3, other_1)
                    red[ki] = both
                    red_1[ki] = both_1
                T.tvm_storage_sync("shared")
                if ki < 2:
                    own_4: T.let[T.int32] = red[ki]
                    own_5: T.let[T.float32] = red_1[ki]
                    other: T.let[T.int32] = red[ki + 2]
                    other_1: T.let[T.float32] = red_1[ki + 2]
                    both: T.let[T.int32] = T.Select(own_5 > other_1, own_4, other)
                    both_1: T.let[T.float32] = T.Select(own_5 > other_1, own_5, other_1)
                    red[ki] = both
                    red_1[ki] = both_1
                T.tvm_storage_sync("shared")
                if ki < 1:
                    own_6: T.let[T.int32] = red[ki]
                    own_7: T.let[T.float32] = red_1[ki]
                    other: T.let[T.int32] = red[ki + 1]
                    other_1: T.let[T.float32] = red_1[ki + 1]
                    both: T.let[T.int32] = T.Select(own_7 > other_1, own_6, other)
                    both_1: T.let[T.float32] = T.Select(own_7 > other_1, own_7, other_1)
                    red[ki] = both
                    red_1[ki] = both_1
                T.tvm_storage_sync("shared")
                Index_own[0] = red[0]
                V_own[0] = red_1[0]
                if ki == 0:
                    Index_1[i] = Index_own[0]
                    V_1[i] = V_own[0]

    @T.prim_func
    def softmax(A: T.Buffer((3, 40), "float32"), B: T.Buffer((3, 40), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((120,), data=A.data)
        B_1 = T.decl_buffer((120,), data=B.data)
        M = T.alloc_buffer((1,), scope="shared")
        S = T.alloc_buffer((1,), scope="local")
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for k in T.thread_binding(40, thread="threadIdx.x"):
                M_own = T.alloc_buffer((1,), scope="local")
                M_own[0] = T.float32("-inf")
                M_own[0] = T.max(M_own[0], A_1[i * 40 + k])
                own: T.let[T.float32] = M_own[0]
                red = T.alloc_buffer((40,), scope="shared")
                red[k] = own
                T.tvm_storage_sync("shared")
                if k < 8:
                    own_1: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 32]
                    both: T.let[T.float32] = T.max(own_1, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 16:
                    own_2: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 16]
                    both: T.let[T.float32] = T.max(own_2, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 8:
                    own_3: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 8]
                    both: T.let[T.float32] = T.max(own_3, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 4:
                    own_4: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 4]
                    both: T.let[T.float32] = T.max(own_4, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 2:
                    own_5: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 2]
                    both: T.let[T.float32] = T.max(own_5, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 1:
                    own_6: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 1]
                    both: T.let[T.float32] = T.max(own_6, other)
                    red[k] = both
                T.tvm_storage_sync("shared")
                M_own[0] = red[0]
                if k == 0:
                    M[0] = M_own[0]
            T.tvm_storage_sync("shared")
            for k in T.thread_binding(40, thread="threadIdx.x"):
                S_own = T.alloc_buffer((1,), scope="local")
                S_own[0] = T.float32(0.0)
                S_own[0] = S_own[0] + T.exp(A_1[i * 40 + k] - M[0])
                own: T.let[T.float32] = S_own[0]
                red = T.alloc_buffer((40,), scope="shared")
                red[k] = own
                T.tvm_storage_sync("shared")
                if k < 8:
                    own_1: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 32]
                    both: T.let[T.float32] = own_1 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 16:
                    own_2: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 16]
                    both: T.let[T.float32] = own_2 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 8:
                    own_3: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 8]
                    both: T.let[T.float32] = own_3 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 4:
                    own_4: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 4]
                    both: T.let[T.float32] = own_4 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 2:
                    own_5: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 2]
                    both: T.let[T.float32] = own_5 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                if k < 1:
                    own_6: T.let[T.float32] = red[k]
                    other: T.let[T.float32] = red[k + 1]
                    both: T.let[T.float32] = own_6 + other
                    red[k] = both
                T.tvm_storage_sync("shared")
                S_own[0] = red[0]
                S[0] = S_own[0]
            for k in T.thread_binding(40, thread="threadIdx.x"):
                B_1[i * 40 + k] = T.exp(A_1[i * 40 + k] - M[0]) / S[0]

    @T.prim_func
    def tiled(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A_1 = T.decl_buffer((512,), data=A.data)
        B_1 = T.decl_buffer((8,), data=B.data)
        for ko in T.thread_binding(4, thread="threadIdx.y"):
            for kx in T.thread_binding(4, thread="threadIdx.x"):
                B_own = T.alloc_buffer((8,), scope="local")
                for i in range(8):
                    B_own[i] = T.float32(0.0)
                for ki, i in T.grid(4, 8):
                    B_own[i] = B_own[i] + A_1[i * 64 + ko * 16 + ki * 4 + kx]
                for i in range(8):
                    own: T.let[T.float32] = B_own[i]
                    red = T.alloc_buffer((16,), scope="shared")
                    T.tvm_storage_sync("shared")
                    red[kx + ko * 4] = own
                    T.tvm_storage_sync("shared")
                    if kx + ko * 4 < 8:
                        own_1: T.let[T.float32] = red[kx + ko * 4]
                        other: T.let[T.float32] = red[kx + ko * 4 + 8]
                        both: T.let[T.float32] = own_1 + other
                        red[kx + ko * 4] = both
                    T.tvm_storage_sync("shared")
                    if kx + ko * 4 < 4:
                        own_2: T.let[T.float32] = red[kx + ko * 4]
                        other: T.let[T.float32] = red[kx + ko * 4 + 4]
                        both: T.let[T.float32] = own_2 + other
                        red[kx + ko * 4] = both
                    T.tvm_storage_sync("shared")
                    if kx + ko * 4 < 2:
                        own_3: T.let[T.float32] = red[kx + ko * 4]
                        other: T.let[T.float32] = red[kx + ko * 4 + 2]
                        both: T.let[T.float32] = own_3 + other
                        red[kx + ko * 4] = both
                    T.tvm_storage_sync("shared")
                    if kx + ko * 4 < 1:
                        own_4: T.let[T.float32] = red[kx + ko * 4]
                        other: T.let[T.float32] = red[kx + ko * 4 + 1]
                        both: T.let[T.float32] = own_4 + other
                        red[kx + ko * 4] = both
                    T.tvm_storage_sync("shared")
                    B_own[i] = red[0]
                    if kx == 0 and ko == 0:
                        B_1[i] = B_own[i]
