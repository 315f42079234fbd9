# tvm: accepted (what TVM's reading keeps and this project's does not: what a note is about; and results without a type)

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def returned(n: T.int32):
        if n > 3:
            return n + 1
        return n

    @T.prim_func
    def noted(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), n: T.int32):
        with T.attr(T.target("llvm"), "target", 0):
            B[0] = A[0]
        with T.attr("text", "key", 1):
            B[1] = A[1]
        with T.attr(3.5, "key", n):
            B[2] = A[2]
        T.attr(T.int64(7), "key", "value")
        B[3] = T.truncmod(A[3], A[4])
        B[4] = T.Mod(A[3], T.float32(2))
