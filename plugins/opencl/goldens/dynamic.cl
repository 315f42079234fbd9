// Written by chipdock for target opencl: OpenCL C 1.2.

#if defined(__clang__) || defined(__GNUC__)
#define CD_MAY_ALIAS __attribute__((may_alias))
#else
#define CD_MAY_ALIAS
#endif
typedef int CD_MAY_ALIAS cd_i32_alias;
static inline float cd_odd_from_int32(int x) {
    float f = convert_float_rtz(x);
    return (int)f != x ? as_float(as_uint(f) | 1u) : f;
}
typedef ushort CD_MAY_ALIAS cd_f16_memory;
static inline float cd_f16_value(ushort x) {
    cd_f16_memory bits = x;
    return vload_half(0, (const __private half*)&bits);
}
static inline ushort cd_f16_bits(float x) {
    cd_f16_memory bits;
    vstore_half_rte(x, 0, (__private half*)&bits);
    return bits;
}
static inline float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
typedef ushort CD_MAY_ALIAS cd_f16_alias;

__kernel void dynamic_kernel(__global const int* restrict A, __global float* restrict B, int n, __local uchar* buf_dyn) {
    const int t = (int)get_local_id(0);
    ((__local cd_i32_alias*)buf_dyn)[t] = A[t];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    B[t] = (float)((__local cd_i32_alias*)buf_dyn)[(long)n - 1 - t];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    ((__local cd_f16_alias*)buf_dyn)[t] = cd_f16_bits(cd_odd_from_int32(A[t]));
    B[t] = B[t] + cd_f16_value(((__local cd_f16_alias*)buf_dyn)[t]);
}
