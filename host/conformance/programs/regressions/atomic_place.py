# LLVM IR took the place of an element whose address is taken as that of a pointer, eight bytes each.
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((6,), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "float16")):
        for i in range(6):
            T.call_intrin("int32", "tirx.atomic_add", T.address_of(B[i % 4]), A[i])
            T.call_intrin("float16", "tirx.atomic_add", T.address_of(C[3 - i % 4]), T.float16(1.5))
