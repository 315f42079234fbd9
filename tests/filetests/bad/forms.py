# Forms that are taken, wrongly used.

import tvm
from tvm import te
from tvm.script import tirx as T


class Empty:
    pass


@T.prim_func
def unsaid(n: T.int32):
    return n + 1


@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), M: T.Buffer((4, 4), "float32"), n: T.int32):
    A[0] = T.exp(A[1], dtype="float16")
    A[1] = T.if_then_else(n > 3, A[0], A[1], dtype="int32")
    A[2] = T.max(A[0], A[1], dtype="float32")
    T.tvm_storage_sync("shared", dtype="int32")
    A[3] = tvm.te.exp(A[0])
    A[4] = tvm.tirx.Buffer(A[0])
    A[5] = te.exp(A[0])
    a = T.bind(n + 1, T.int64)
    b = T.bind(n + 1, "int32")
    c = T.int32()
    d = T.bind(n + 1, var=c)
    T.bind(n + 1, var=n + 2)
    for ax in T.grid(4, 4):
        M[ax[2], 0] = T.float32(1)
        M[*n] = T.float32(1)
        M[ax, 0] = T.float32(1)
        i, j, k = ax
    for i, *j, *k in T.grid(4, 4):
        M[i, 0] = T.float32(1)
    for i, j, *k in T.grid(4):
        M[i, 0] = T.float32(1)
    A[6] = T.Cast("float32", unsaid(n))
    A[7] = A.strides[0]
