# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def both_sides(A: T.Buffer((64,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32"), n: T.int32):
        # A branch by lane with both sides, one within one.
        for v in T.vectorized(8):
            if A[v] > T.float32(0):
                B[v] = A[v] + A[n]
            else:
                B[v] = T.float32(0)
                if Idx[v] == n:
                    B[v] = B[v] + T.float32(1)

    @T.prim_func
    def guarded_loads(A: T.Buffer((16,), "float32"), Idx: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        # Most lanes would load what is not there.
        for v in T.vectorized(32):
            B[v] = T.if_then_else(Idx[v] >= 0 and Idx[v] < 16, A[Idx[v]], T.float32(0))
        for v in T.vectorized(8):
            if v < 4 and A[v * 5] > T.float32(0):
                B[v] = T.float32(2)
            if v > 3 or A[v * 5] > T.float32(0):
                B[v] = B[v] + T.float32(1)

    @T.prim_func
    def no_lane(A: T.Buffer((16,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        # What no lane runs must not be loaded, though it is the same for all lanes.
        for v in T.vectorized(8):
            if v > 7 + n:
                B[v] = A[16 + n]
        for v in T.vectorized(8):
            if n > 100:
                B[v] = T.if_then_else(n > 4, A[v + n], T.float32(3))
