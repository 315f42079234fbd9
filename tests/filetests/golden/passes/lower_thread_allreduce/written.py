# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def written(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((120,), data=A_ptr)
        B = T.decl_buffer((20,), data=B_ptr)
        with T.launch_thread("blockIdx.x", 4) as bx:
            with T.launch_thread("threadIdx.x", 5) as tx:
                with T.launch_thread("threadIdx.y", 6) as ty:
                    t = T.alloc_buffer((1,), scope="local")
                    s = T.alloc_buffer((5,), scope="shared")
                    for k in range(2):
                        own: T.let[T.float32] = T.if_then_else(ty < n, A[bx * 30 + ty * 5 + tx], T.float32("-inf"))
                        red = T.alloc_buffer((30,), scope="shared")
                        T.tvm_storage_sync("shared")
                        red[tx * 6 + ty] = own
                        T.tvm_storage_sync("shared")
                        if ty < 2:
                            own_1: T.let[T.float32] = red[tx * 6 + ty]
                            other: T.let[T.float32] = red[tx * 6 + ty + 4]
                            both: T.let[T.float32] = T.max(own_1, other)
                            red[tx * 6 + ty] = both
                        T.tvm_storage_sync("shared")
                        if ty < 2:
                            own_2: T.let[T.float32] = red[tx * 6 + ty]
                            other: T.let[T.float32] = red[tx * 6 + ty + 2]
                            both: T.let[T.float32] = T.max(own_2, other)
                            red[tx * 6 + ty] = both
                        T.tvm_storage_sync("shared")
                        if ty < 1:
                            own_3: T.let[T.float32] = red[tx * 6 + ty]
                            other: T.let[T.float32] = red[tx * 6 + ty + 1]
                            both: T.let[T.float32] = T.max(own_3, other)
                            red[tx * 6 + ty] = both
                        T.tvm_storage_sync("shared")
                        t[0] = red[tx * 6]
                    own: T.let[T.float32] = A[bx * 30 + ty * 5 + tx]
                    red = T.alloc_buffer((30,), scope="shared")
                    red[tx * 6 + ty] = own
                    T.tvm_storage_sync("shared")
                    if ty < 2:
                        own_1: T.let[T.float32] = red[tx * 6 + ty]
                        other: T.let[T.float32] = red[tx * 6 + ty + 4]
                        both: T.let[T.float32] = own_1 + other
                        red[tx * 6 + ty] = both
                    T.tvm_storage_sync("shared")
                    if ty < 2:
                        own_2: T.let[T.float32] = red[tx * 6 + ty]
                        other: T.let[T.float32] = red[tx * 6 + ty + 2]
                        both: T.let[T.float32] = own_2 + other
                        red[tx * 6 + ty] = both
                    T.tvm_storage_sync("shared")
                    if ty < 1:
                        own_3: T.let[T.float32] = red[tx * 6 + ty]
                        other: T.let[T.float32] = red[tx * 6 + ty + 1]
                        both: T.let[T.float32] = own_3 + other
                        red[tx * 6 + ty] = both
                    T.tvm_storage_sync("shared")
                    if ty == 0:
                        s[tx] = red[tx * 6]
                    T.tvm_storage_sync("shared")
                    if ty == 0:
                        B[bx * 5 + tx] = t[0] + s[tx]

    @T.prim_func
    def dynamic(A_ptr: T.handle("float32", "global"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((n,), data=A_ptr)
        with T.launch_thread("threadIdx.x", 32) as tx:
            t = T.alloc_buffer((1,), scope="local")
            own: T.let[T.float32] = A[tx]
            red = T.alloc_buffer((32,), scope="shared")
            red[tx] = own
            T.tvm_storage_sync("shared")
            if tx < 16:
                own_1: T.let[T.float32] = red[tx]
                other: T.let[T.float32] = red[tx + 16]
                both: T.let[T.float32] = own_1 + other
                red[tx] = both
            T.tvm_storage_sync("shared")
            if tx < 8:
                own_2: T.let[T.float32] = red[tx]
                other: T.let[T.float32] = red[tx + 8]
                both: T.let[T.float32] = own_2 + other
                red[tx] = both
            T.tvm_storage_sync("shared")
            if tx < 4:
                own_3: T.let[T.float32] = red[tx]
                other: T.let[T.float32] = red[tx + 4]
                both: T.let[T.float32] = own_3 + other
                red[tx] = both
            T.tvm_storage_sync("shared")
            if tx < 2:
                own_4: T.let[T.float32] = red[tx]
                other: T.let[T.float32] = red[tx + 2]
                both: T.let[T.float32] = own_4 + other
                red[tx] = both
            T.tvm_storage_sync("shared")
            if tx < 1:
                own_5: T.let[T.float32] = red[tx]
                other: T.let[T.float32] = red[tx + 1]
                both: T.let[T.float32] = own_5 + other
                red[tx] = both
            T.tvm_storage_sync("shared")
            t[0] = red[0]
            if tx < 1:
                A[tx] = t[0]
