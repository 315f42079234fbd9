# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def store(p: T.handle("int32", "global"), x: T.int32):
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": False})
        P = T.decl_buffer((4,), "int32", data=p)
        P[0] = x

    @T.prim_func
    def kernel_kernel(B: T.handle("int32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"keys": [], "kind": "device-kind", "tag": ""}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x"]})
        B_1 = T.decl_buffer((64,), "int32", data=B)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            Module.store(T.address_of(B_1[blockIdx_x]), blockIdx_x)
