# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def nothing(A: T.Buffer((4,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((4,), data=A.data)

    @T.prim_func
    def no_element(A: T.Buffer((0,), "float32")):
        T.func_attr({"chipdock.device": {"name": "device", "opaque_handles": False, "type": 2}})
        A_1 = T.decl_buffer((0,), data=A.data)
