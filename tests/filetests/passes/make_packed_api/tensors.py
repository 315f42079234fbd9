# Strings and tensors are passed on: a text, a borrowed DLTensor with its shape, and with strides where it has them.

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def top(A: T.Buffer((4, 6), "float16"), P: T.Buffer((3, 2), "int64"), n: T.int32):
    if n > 0:
        T.call_packed("tvm.contrib.sort.topk", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(3, n), T.tvm_stack_make_shape(6, 2), 2, T.float16(0), n + 1), T.tvm_stack_make_array(P.data, T.tvm_stack_make_shape(3, 2), 0, 2, T.int64(0), 0), 2, 1, "indices", T.bool(True))
