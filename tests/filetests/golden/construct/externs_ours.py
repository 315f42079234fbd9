# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def handed(A: T.Buffer((16,), "float32")):
        T.call_extern(T.handle().ty, "use", A.data)
