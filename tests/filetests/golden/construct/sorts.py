# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def sorted(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 5), "float32")):
        # with T.sblock("root"):
        with T.sblock("sort_cpu"):
            T.reads()
            T.writes()
            T.tvm_call_packed("tvm.contrib.sort.sort", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(3, 5), 0, 2, T.float32(0.0), 0), T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(3, 5), 0, 2, T.float32(0.0), 0), 1, 1)

    @T.prim_func(s_tir=True)
    def places(A: T.Buffer((4, 6), "int64"), B: T.Buffer((4, 6), "int32")):
        # with T.sblock("root"):
        negative = T.sblock_alloc_buffer((4, 6), "int64")
        for i, j in T.grid(4, 6):
            with T.sblock("negative"):
                vi, vj = T.axis.remap("SS", [i, j])
                negative[vi, vj] = T.int64(0) - A[vi, vj] % T.int64(3)
        with T.sblock("argsort_cpu"):
            T.reads()
            T.writes()
            T.tvm_call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(negative.data, T.tvm_stack_make_shape(4, 6), 0, 2, T.int64(0), 0), T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(4, 6), 0, 2, 0, 0), 0, 0)

    @T.prim_func(s_tir=True)
    def best(A: T.Buffer((2, "n"), "float64"), V: T.Buffer((2, 3), "float64"), P: T.Buffer((2, 3), "int64")):
        n = T.int32()
        # with T.sblock("root"):
        if n >= 3:
            T.tvm_call_packed("tvm.contrib.sort.topk", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, n), 0, 2, T.float64(0.0), 0), T.tvm_stack_make_array(V.data, T.tvm_stack_make_shape(2, 3), 0, 2, T.float64(0.0), 0), T.tvm_stack_make_array(P.data, T.tvm_stack_make_shape(2, 3), 0, 2, T.int64(0), 0), 3, -1, "both", T.bool(False))

    @T.prim_func(s_tir=True)
    def columns(A: T.Buffer((4, 6), "float16"), B: T.Buffer((3, 2), "float32")):
        # with T.sblock("root"):
        T.tvm_call_packed("tvm.contrib.sort.topk", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(3, 2), T.tvm_stack_make_shape(6, 2), 2, T.float16(0.0), 7), T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(3, 2), 0, 2, T.float32(0.0), 0), 0, 0, "indices", T.bool(True))

    @T.prim_func(s_tir=True)
    def boxes(score: T.Buffer((2, 7), "float32"), count: T.Buffer((2,), "int32"), order: T.Buffer((2, 7), "int32")):
        # with T.sblock("root"):
        held = T.sblock_alloc_buffer((2,), "int32")
        for i in range(2):
            with T.sblock("held"):
                vi = T.axis.spatial(2, i)
                held[vi] = T.min(T.max(count[vi], 0), 7)
        with T.sblock("argsort_nms_cpu"):
            T.reads()
            T.writes()
            T.tvm_call_packed("tvm.contrib.sort.argsort_nms", T.tvm_stack_make_array(score.data, T.tvm_stack_make_shape(2, 7), 0, 2, T.float32(0.0), 0), T.tvm_stack_make_array(held.data, T.tvm_stack_make_shape(2), 0, 1, 0, 0), T.tvm_stack_make_array(order.data, T.tvm_stack_make_shape(2, 7), 0, 2, 0, 0), 1, T.bool(False))
