# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def math(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "bool"), I32: T.Buffer((8,), "int32"), n: T.int32):
        # with T.sblock("root"):
        A[0] = T.exp(A[1]) + T.exp2(A[1]) + T.exp10(A[1])
        A[0] = T.log(A[1]) + T.log2(A[1]) + T.log10(A[1]) + T.log1p(A[1])
        A[0] = T.sin(A[1]) + T.cos(A[1]) + T.tan(A[1])
        A[0] = T.asin(A[1]) + T.acos(A[1]) + T.atan(A[1])
        A[0] = T.sinh(A[1]) + T.cosh(A[1]) + T.tanh(A[1])
        A[0] = T.asinh(A[1]) + T.acosh(A[1]) + T.atanh(A[1])
        A[0] = T.sqrt(A[1]) + T.rsqrt(A[1]) + T.sigmoid(A[1]) + T.erf(A[1])
        A[0] = T.floor(A[1]) + T.ceil(A[1]) + T.round(A[1]) + T.trunc(A[1]) + T.nearbyint(A[1])
        A[0] = T.abs(A[1]) + T.abs(A[2])
        A[0] = T.pow(A[1], T.float32(2.0)) + T.pow(A[1], A[2])
        A[0] = T.atan2(A[1], A[2]) + T.fmod(A[1], A[2]) + T.hypot(A[1], A[2])
        A[0] = T.copysign(A[1], A[2]) + T.nextafter(A[1], A[2]) + T.ldexp(A[1], n)
        A[0] = T.fma(A[1], A[2], A[3])
        P[0] = T.isnan(A[1])
        I32[0] = T.abs(n)
