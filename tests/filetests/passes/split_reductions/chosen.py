from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def argmax(A: T.Buffer((5, 77), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        # The greatest, and of equal ones the first; some over.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(5, 77):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.4028234663852886e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk] or (Most[vi] == A[vi, vk] and At[vi] < vk), At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] > A[vi, vk] or (Most[vi] == A[vi, vk] and At[vi] < vk), Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most

    @T.prim_func(s_tir=True)
    def last_of_least(A: T.Buffer((5, 64), "int32"), At: T.Buffer((5,), "int64"), Least: T.Buffer((5,), "int32")):
        # The least, and of equal ones the last; wide indices, another order of everything.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(5, 64):
            with T.sblock("Least"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Least[vi] = 2147483647
                    At[vi] = T.int64(-1)
                least: T.let[T.int32] = T.Select(T.Cast("int64", vk) < At[vi] and A[vi, vk] == Least[vi] or A[vi, vk] > Least[vi], Least[vi], A[vi, vk])
                at: T.let[T.int64] = T.Select(T.Cast("int64", vk) < At[vi] and A[vi, vk] == Least[vi] or A[vi, vk] > Least[vi], At[vi], T.Cast("int64", vk))
                At[vi] = at
                Least[vi] = least

    @T.prim_func(s_tir=True)
    def any_of_greatest(A: T.Buffer((5, 64), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        # Of equal ones the last one that is reached: the order of iterations matters.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(5, 64):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.4028234663852886e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk], At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] > A[vi, vk], Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most

    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer(("m", "n"), "float32"), At: T.Buffer(("m",), "int32"), Most: T.Buffer(("m",), "float32")):
        m = T.int32()
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(m, n):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.4028234663852886e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk] or (Most[vi] == A[vi, vk] and At[vi] < vk), At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] > A[vi, vk] or (Most[vi] == A[vi, vk] and At[vi] < vk), Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most

    @T.prim_func(s_tir=True)
    def by_value(A: T.Buffer((5, 77), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        # As TVM writes it: of equal values either is kept, of their indices the first.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(5, 77):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.4028234663852886e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk] or Most[vi] == A[vi, vk] and At[vi] < vk, At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] > A[vi, vk], Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most

    @T.prim_func(s_tir=True)
    def other_way(A: T.Buffer((5, 64), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        # The index is that of the greatest, the value the least: no pair.
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(5, 64):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.4028234663852886e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk] or Most[vi] == A[vi, vk] and At[vi] < vk, At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] < A[vi, vk], Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most
