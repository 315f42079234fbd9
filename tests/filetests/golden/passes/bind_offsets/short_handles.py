# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def kernel(A_handle: T.handle, B_handle: T.handle, B_elem_offset: T.int32):
        A_elem_offset = T.int32()
        B_elem_offset_ = T.int32()
        A = T.match_buffer(A_handle, (16,), elem_offset=A_elem_offset)
        B = T.match_buffer(B_handle, (16,), elem_offset=B_elem_offset_)
        T.func_attr({"target": T.target({"keys": [], "kind": "device-kind", "tag": ""})})
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            with T.attr({"chipdock.implicit_barriers": 1}):
                B[bx] = A[bx] * T.Cast("float32", B_elem_offset)
