# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.int32) -> T.int32:
        if x > 100:
            return 200
        return x * 2

    @T.prim_func
    def mean(A: T.Buffer(("n",), "float32"), result: T.int32) -> T.float32:
        n = T.int32()
        S = T.alloc_buffer((1,), "float32")
        S[0] = T.float32(0)
        for i in range(Module.twice(n) // 2):
            S[0] = S[0] + A[i]
        return S[0] / T.Cast("float32", n)

    @T.prim_func
    def use(A: T.Buffer((64,), "int32"), n: T.int32):
        # Within an expression, where a condition says so, as a condition, of a loop too, and for nothing.
        A[0] = Module.twice(n) + 1
        A[1] = T.if_then_else(n > 3, Module.twice(n - 3), -1)
        if n > 0 and Module.twice(n) < 10:
            A[2] = 1
        A[3] = 0
        while Module.twice(A[3]) < 10:
            A[3] = A[3] + 1
        T.evaluate(Module.twice(n))
