# tvm: refused (it takes no bare return)
# Functions that end within a loop, where a device alone knows it.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def ends_in_loop(A: T.Buffer((16,), "int32"), B: T.Buffer((1,), "int32")):
        B[0] = 0
        for i in range(16):
            if A[i] > 20:
                return
            A[i] = 0
        B[0] = 1

    @T.prim_func(s_tir=True)
    def ends_in_nest(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
        for i in range(8):
            B[i] = -1
            for j in range(8):
                if A[i, j] > 60:
                    B[i] = j
                    return
            while A[i, 0] > 3:
                A[i, 0] = A[i, 0] - 2
                if A[i, 0] == 4:
                    return
        B[0] = 7
