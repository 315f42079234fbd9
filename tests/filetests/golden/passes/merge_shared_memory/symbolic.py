# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def symbolic(A_ptr: T.handle("float32", "global"), n: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        A = T.decl_buffer((n,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 2) as bx:
            with T.launch_thread("threadIdx.x", n) as tx:
                dynamic = T.alloc_buffer((T.Cast("int64", n * 2) + (T.Cast("int64", n) * T.int64(2) + T.int64(3)) // T.int64(4) + T.Cast("int64", n),), scope="shared.dyn")
                m: T.let[T.int32] = n * 2
                S = T.decl_buffer((m,), data=dynamic.data, scope="shared.dyn")
                H = T.decl_buffer((n * 5,), "float16", data=dynamic.data, scope="shared.dyn")
                C = T.decl_buffer((n * 3 + (n * 2 + 3) // 4,), data=dynamic.data, scope="shared.dyn")
                S[tx] = A[tx]
                S[tx + n] = A[tx]
                H[tx + n * 4] = T.Cast("float16", tx)
                C[tx + n * 2 + (n * 2 + 3) // 4] = T.float32(1.0)
                T.tvm_storage_sync("shared.dyn")
                if bx == 0:
                    A[tx] = S[m - tx - 1] + T.Cast("float32", H[n * 5 - tx - 1]) + C[n * 3 - tx + (n * 2 + 3) // 4 - 1]
