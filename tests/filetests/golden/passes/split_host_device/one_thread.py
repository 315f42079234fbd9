# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scale(A: T.Buffer(("n",), "float32"), s: T.float32, B: T.Buffer((n,), "float32")):
        n = T.int32()
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((n,), data=A.data)
        B_1 = T.decl_buffer((n,), data=B.data)
        L = T.alloc_buffer((n,), annotations={"chipdock.device_memory": True})
        T.tvm_call_packed("scale_kernel", A.data, B.data, L.data, s, n)

    @T.prim_func
    def by_hand(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((64,), data=A.data)
        for k in range(n):
            T.tvm_call_packed("by_hand_kernel", A.data)

    @T.prim_func
    def scale_kernel(A: T.handle("float32", "global"), B: T.handle("float32", "global"), L: T.handle("float32", "global"), s: T.float32, n: T.int32):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": []})
        L_1 = T.decl_buffer((n,), data=L)
        A_1 = T.decl_buffer((n,), data=A)
        B_1 = T.decl_buffer((n,), data=B)
        for i in range(n):
            L_1[i] = A_1[i] * s
        for i in range(n):
            B_1[i] = L_1[n - i - 1]

    @T.prim_func
    def by_hand_kernel(A: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": []})
        A_1 = T.decl_buffer((64,), data=A)
        S = T.alloc_buffer((64,), scope="npu.scratch")
        for i in range(64):
            S[i] = A_1[i]
        for i in range(64):
            A_1[i] = S[63 - i]
