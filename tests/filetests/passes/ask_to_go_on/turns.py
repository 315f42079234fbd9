# from tvm.script import ir as I
# from tvm.script import tirx as T
# target: parallel host

@I.ir_module
class Module:
    @T.prim_func
    def turns(A: T.Buffer((4,), "int64"), n: T.int64):
        # Counts its turns, and asks once in a while.
        A[0] = T.int64(0)
        while A[0] < n:
            A[0] = A[0] + T.int64(1)

    @T.prim_func
    def leaves(A: T.Buffer(("n",), "int32")):
        n = T.int32()
        for i in range(n):
            if A[i] < 0:
                break
            if A[i] == 7:
                continue
            A[i] = A[i] + 1

    @T.prim_func
    def in_turns(A: T.Buffer(("n",), "int32"), B: T.Buffer((1,), "int32")):
        # A turn of unknown length asks within, and counts around it.
        n = T.int32()
        while B[0] > 0:
            for i in range(n):
                A[i] = A[i] + B[0]
            B[0] = B[0] - 1
