# Pointers handed to functions of elsewhere, with the `dtype=` of older scripts.

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def handed(A: T.Buffer((16,), "float32")):
        T.evaluate(T.call_extern("use", T.address_of(A[0], dtype="handle"), dtype="handle"))
        T.evaluate(T.call_extern("use", T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 4, 1, dtype="handle"), dtype="int32"))
