# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def scaled(x: T.int32, y: T.int32) -> T.int32:
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": False})
        return x * y

    @T.prim_func
    def early(p: T.handle("int32", "global"), x: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": False})
        P = T.decl_buffer((4,), "int32", data=p)
        if x < 0:
            return
        P[0] = x

    @T.prim_func
    def store(p: T.handle("int32", "global"), x: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": False})
        P = T.decl_buffer((4,), "int32", data=p)
        P[0] = x

    @T.prim_func
    def kernel_kernel(A: T.handle("int32", "global"), B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        A_1 = T.decl_buffer((64,), "int32", data=A)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            B_1[blockIdx_x] = Module.scaled(A_1[blockIdx_x], 3)
            Module.early(B, A_1[blockIdx_x])
            Module.store(T.address_of(B_1[A_1[blockIdx_x]]), 5)
            x: T.let[T.int32] = 6
            P = T.decl_buffer((4,), "int32", data=B)
            P[0] = x
