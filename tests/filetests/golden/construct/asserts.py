# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def asserts(A: T.Buffer((64,), "float32"), n: T.int32):
        T.func_attr({"global_symbol": "asserts", "inner": {"k": 1}, "names": ["a", "b"], "nothing": None, "number": 3, "pi": 3.5, "tirx.noalias": True})
        # with T.sblock("root"):
        assert n > 3, ("RuntimeError", ["n must be large"])
        assert n < 60, ("ValueError", ["n is ", "too large"])
        with T.attr(A, "storage_alignment", 64):
            A[0] = T.float32(1.0)
        with T.attr({"pragma_one": 1}):
            with T.attr({"pragma_two": "s"}):
                A[1] = T.float32(1.0)
        with T.attr(n, "pragma_n", "x"):
            A[2] = T.float32(1.0)
        for i in range(8):
            with T.attr({"pragma_rest": 1}):
                A[3 + i] = T.float32(1.0)
                A[11 + i] = T.float32(1.0)
