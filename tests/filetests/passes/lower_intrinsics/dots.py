# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: host with dot products

@I.ir_module
class Module:
    @T.prim_func
    def native(A: T.Buffer((16,), "uint8"), B: T.Buffer((16,), "int8"), C: T.Buffer((4,), "int32"), H: T.Buffer((8,), "bfloat16"), S: T.Buffer((4,), "float32")):
        # Dot products that the target has stay.
        C[T.Ramp(0, 1, 4)] = T.dot_add(C[T.Ramp(0, 1, 4)], A[T.Ramp(0, 1, 16)], B[T.Ramp(0, 1, 16)])
        S[T.Ramp(0, 1, 4)] = T.dot_add(S[T.Ramp(0, 1, 4)], H[T.Ramp(0, 1, 8)], H[T.Ramp(0, 1, 8)])

    @T.prim_func
    def lowered(A: T.Buffer((16,), "int8"), C: T.Buffer((4,), "int32"), W: T.Buffer((2,), "int16"), H: T.Buffer((8,), "float16"), S: T.Buffer((4,), "float32")):
        # Others become shuffles, products and sums.
        C[T.Ramp(0, 1, 4)] = T.dot_add(C[T.Ramp(0, 1, 4)], A[T.Ramp(0, 1, 16)], A[T.Ramp(0, 1, 16)])
        C[0] = T.dot_add(C[1], W[T.Ramp(0, 1, 2)], W[T.Ramp(0, 1, 2)])
        S[T.Ramp(0, 1, 4)] = T.dot_add(S[T.Ramp(0, 1, 4)], H[T.Ramp(0, 1, 8)], H[T.Ramp(0, 1, 8)])
