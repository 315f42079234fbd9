# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def divmod_i64(A: T.Buffer(("n",), "int64"), B: T.Buffer((n,), "int64"), Q: T.Buffer((n,), "int64"), R: T.Buffer((n,), "int64")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("QR"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi], B[vi])
                T.writes(Q[vi], R[vi])
                Q[vi] = A[vi] // B[vi]
                R[vi] = A[vi] % B[vi]
