# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scalars(A: T.Buffer((64,), "float32"), n: T.int32):
        # with T.sblock("root"):
        x = T.alloc_buffer((1,), "int32", scope="local")
        x[0] = n + 1
        A[x[0]] = T.float32(1.0)
        x[0] = x[0] + 2
        x[0] = x[0] + 3
        y = T.alloc_buffer((1,), "int64", scope="local")
        y[0] = T.Cast("int64", n + 1)
        A[y[0]] = T.float32(2.0)
        z = T.alloc_buffer((1,), scope="local")
        z[0] = A[0]
        A[1] = z[0]
        i = T.alloc_buffer((1,), "int32", scope="local")
        i[0] = 0
        while i[0] < 5:
            A[i[0]] = T.float32(3.0)
            if i[0] == 3:
                i[0] = i[0] + 2
            else:
                if i[0] == 4:
                    i[0] = i[0] + 3
                else:
                    i[0] = i[0] + 1
        k: T.let[T.int32] = n * 2
        A[k] = T.float32(4.0)
        j: T.let[T.int32] = n * 3
        A[j] = T.float32(5.0)
        b: T.let[T.bool] = n < 3
        if b:
            A[2] = T.float32(6.0)
        else:
            A[3] = T.float32(7.0)
        A[4] = A[4] + T.float32(1.0)
        A[5] = A[5] * T.float32(2.0)
        buf = T.alloc_buffer((4,), scope="local")
        buf[0] = A[6]
        A[7] = buf[0]
        p = T.alloc_buffer((1,), "int32", scope="local")
        p[0] = n + 1
        q = T.alloc_buffer((1,), "int32", scope="local")
        q[0] = n + 2
        A[p[0]] = A[q[0]]
        A[8] = T.float32(8.0)
