@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
        def inner(x):
            return x
        try:
            B[0] = 1
        except Exception:
            pass
        B[0] = [x for x in range(3)][0]
        B[1] = (lambda x: x)(3)
        for i, x in enumerate(B):
            B[i] = x
        for x in B:
            B[0] = x
        for i in [1, 2, 3]:
            B[i] = 1
        B[2] = len(B)
        B[3] = n ** 2
        B[4] = n / 2
        print(n)
        assert isinstance(n, int)
        del B
        import math
        A[0, 0] = math.exp(1.0)
        B[5] = int(n)
        B[6] = abs(n)
        B[7] = max(n, 3)
        x = y = 3
        B[8] = n if n > 3 else None
        x += 1
        global z
        raise ValueError("x")
        B[9] = B @ B
        B[10] = n is None
        B[11] = 3 in B
