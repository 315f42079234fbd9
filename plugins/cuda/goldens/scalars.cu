// Written by chipdock for target cuda: CUDA C++ that needs no header.
// nvcc -x cu -ptx -arch=ARCH FILE
static __device__ __forceinline__ int cd_div_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (unsigned int)a);
    return a / b;
}
static __device__ __forceinline__ int cd_mod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static __device__ __forceinline__ int cd_floordiv_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (unsigned int)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static __device__ __forceinline__ int cd_floormod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
static __device__ __forceinline__ long long cd_max_i64(long long a, long long b) {
    return a > b ? a : b;
}
static __device__ __forceinline__ double cd_odd_f64_of_i64(long long x) {
    // Past 53 bits the low 11 cannot all be kept: bit 11 remembers whether any was set.
    long long low = x & 2047;
    if ((x >= -(1LL << 53) && x <= 1LL << 53) || low == 0) return (double)x;
    return (double)((x - low) | 2048);
}
static __device__ __forceinline__ float cd_odd_f32(double x) {
    float f = (float)x;
    if (x != x || (double)f == x) return f;
    double a = x < 0 ? -x : x, b = f < 0 ? -(double)f : (double)f;
    return __int_as_float((int)(((unsigned int)__float_as_int(f) - (b > a)) | 1u));
}
static __device__ __forceinline__ float cd_f16_value(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
static __device__ __forceinline__ unsigned short cd_f16_bits(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
static __device__ __forceinline__ float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
static __device__ __forceinline__ float cd_bf16_value(unsigned short bits) {
    return __int_as_float((int)((unsigned int)bits << 16));
}
static __device__ __forceinline__ unsigned short cd_bf16_bits(float x) {
    unsigned int bits = (unsigned int)__float_as_int(x);
    return (unsigned short)(x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : bits >> 16 | 64u);
}
static __device__ __forceinline__ float cd_round_bf16(float x) {
    return cd_bf16_value(cd_bf16_bits(x));
}
static __device__ __forceinline__ int cd_i32_from_f64(double x) {
    if (x >= 2147483648.0) return 2147483647;
    if (x > -2147483648.0) return (int)x;
    return x != x ? 0 : (-2147483647 - 1);
}
static __device__ __forceinline__ float cd_min_f32(float a, float b) {
    return a < b ? a : b;
}

extern "C" __global__ void __launch_bounds__(64) scalars_kernel(int* __restrict__ A, long long* __restrict__ B, unsigned short* __restrict__ H, unsigned short* __restrict__ G, double* __restrict__ D, unsigned char* __restrict__ M, int n, bool flag) {
    const int blockIdx_x = (int)blockIdx.x;
    const int threadIdx_x = (int)threadIdx.x;
    const int x = A[blockIdx_x * 64 + threadIdx_x];
    const long long wide = B[blockIdx_x * 64 + threadIdx_x];
    A[blockIdx_x * 64 + threadIdx_x] = (int)((unsigned int)cd_div_i32(x, n) + (unsigned int)cd_mod_i32(x, n) + (unsigned int)cd_floordiv_i32(x, n) + (unsigned int)cd_floormod_i32(x, n));
    B[blockIdx_x * 64 + threadIdx_x] = cd_max_i64((long long)((unsigned long long)(long long)((unsigned long long)wide << (wide & 63)) - (unsigned long long)wide), (-9223372036854775807LL - 1));
    H[blockIdx_x * 64 + threadIdx_x] = cd_f16_bits(cd_odd_f32(cd_odd_f64_of_i64(wide)));
    G[blockIdx_x * 64 + threadIdx_x] = cd_bf16_bits(cd_f16_value(H[blockIdx_x * 64 + threadIdx_x]));
    D[blockIdx_x * 64 + threadIdx_x] = flag ? D[blockIdx_x * 64 + threadIdx_x] / (double)cd_f16_value(H[blockIdx_x * 64 + threadIdx_x]) : __longlong_as_double(0x7ff0000000000000LL);
    A[blockIdx_x * 64 + threadIdx_x + 512] = cd_i32_from_f64(D[blockIdx_x * 64 + threadIdx_x]);
    M[blockIdx_x * 64 + threadIdx_x] = cd_min_f32(cd_f16_value(H[blockIdx_x * 64 + threadIdx_x]), __int_as_float(0x7fc00000)) < 0.1f;
}
