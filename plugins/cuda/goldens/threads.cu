// Written by chipdock for target cuda: CUDA C++ that needs no header.
// nvcc -x cu -ptx -arch=ARCH FILE
extern __shared__ __align__(16) unsigned char cd_dynamic[];
static __device__ __forceinline__ int cd_i32_from_f32(float x) {
    if (x >= 2147483648.0f) return 2147483647;
    if (x > -2147483648.0f) return (int)x;
    return x != x ? 0 : (-2147483647 - 1);
}
static __device__ __forceinline__ int cd_atomic_add_i32(int* p, int x) {
    return atomicAdd(p, x);
}
static __device__ __forceinline__ unsigned int cd_u32_from_f32(float x) {
    if (x >= 4294967296.0f) return 4294967295u;
    if (x > 0.0f) return (unsigned int)x;
    return x != x ? 0 : 0u;
}
static __device__ __forceinline__ unsigned int cd_atomic_add_u32(unsigned int* p, unsigned int x) {
    return atomicAdd(p, x);
}
static __device__ __forceinline__ long long cd_i64_from_f32(float x) {
    if (x >= 9.223372036854776e18f) return 9223372036854775807LL;
    if (x > -9.223372036854776e18f) return (long long)x;
    return x != x ? 0 : (-9223372036854775807LL - 1);
}
static __device__ __forceinline__ long long cd_atomic_add_i64(long long* p, long long x) {
    return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)x);
}
static __device__ __forceinline__ unsigned long long cd_u64_from_f32(float x) {
    if (x >= 1.8446744073709552e19f) return 18446744073709551615ULL;
    if (x > 0.0f) return (unsigned long long)x;
    return x != x ? 0 : 0ULL;
}
static __device__ __forceinline__ unsigned long long cd_atomic_add_u64(unsigned long long* p, unsigned long long x) {
    return atomicAdd(p, x);
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
static __device__ __forceinline__ float cd_atomic_add_f16(unsigned short* p, float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
    unsigned int* word = (unsigned int*)((unsigned long long)p & ~3ULL);
    unsigned int shift = ((unsigned long long)p & 2) * 8;
    unsigned int whole = *(volatile unsigned int*)word, seen;
    unsigned short old;
    do {
        seen = whole;
        old = (unsigned short)(seen >> shift);
        unsigned int sum = (unsigned int)cd_f16_bits(cd_f16_value(old) + x) << shift;
        whole = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | sum);
    } while (whole != seen);
#else
    unsigned short old = *(volatile unsigned short*)p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, cd_f16_bits(cd_f16_value(old) + x));
    } while (old != seen);
#endif
    return cd_f16_value(old);
}
static __device__ __forceinline__ float cd_atomic_add_f32(float* p, float x) {
    return atomicAdd(p, x);
}
static __device__ __forceinline__ double cd_atomic_add_f64(double* p, double x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
    unsigned long long old = *(volatile unsigned long long*)p, seen;
    do {
        seen = old;
        double sum = __longlong_as_double((long long)seen) + x;
        old = atomicCAS((unsigned long long*)p, seen, (unsigned long long)__double_as_longlong(sum));
    } while (old != seen);
    return __longlong_as_double((long long)old);
#else
    return atomicAdd(p, x);
#endif
}

extern "C" __global__ void __launch_bounds__(128) threads_kernel(int* __restrict__ to_int32, unsigned int* __restrict__ to_uint32, long long* __restrict__ to_int64, unsigned long long* __restrict__ to_uint64, unsigned short* __restrict__ to_float16, float* __restrict__ to_float32, double* __restrict__ to_float64, int n) {
    unsigned char* const S = (unsigned char*)cd_dynamic;
    const int blockIdx_x = (int)blockIdx.x;
    const int threadIdx_x = (int)threadIdx.x;
    if (blockIdx_x * 128 + threadIdx_x >= n) {
        return;
    }
    ((float*)S)[(blockIdx_x * 128 + threadIdx_x) & 31] = to_float32[blockIdx_x * 128 + threadIdx_x];
    __syncthreads();
    const unsigned int mask = __activemask();
    const float other = __shfl_up_sync(mask, ((float*)S)[(blockIdx_x * 128 + threadIdx_x) & 31], 1, 32);
    const signed char other_1 = (signed char)__shfl_down_sync(mask, (int)(signed char)to_uint64[blockIdx_x * 128 + threadIdx_x], 1, 32);
    const bool other_2 = __shfl_xor_sync(mask, (int)(other < 1.0f), 1, 32) != 0;
    __syncwarp();
    cd_atomic_add_i32((int*)(to_int32 + ((blockIdx_x * 128 + threadIdx_x) & 31)), cd_i32_from_f32(other_2 ? other : (float)other_1));
    cd_atomic_add_u32((unsigned int*)(to_uint32 + ((blockIdx_x * 128 + threadIdx_x) & 31)), cd_u32_from_f32(other_2 ? other : (float)other_1));
    cd_atomic_add_i64((long long*)(to_int64 + ((blockIdx_x * 128 + threadIdx_x) & 31)), cd_i64_from_f32(other_2 ? other : (float)other_1));
    cd_atomic_add_u64((unsigned long long*)(to_uint64 + ((blockIdx_x * 128 + threadIdx_x) & 31)), cd_u64_from_f32(other_2 ? other : (float)other_1));
    cd_atomic_add_f16((unsigned short*)(to_float16 + ((blockIdx_x * 128 + threadIdx_x) & 31)), cd_round_f16(other_2 ? other : (float)other_1));
    cd_atomic_add_f32((float*)(to_float32 + ((blockIdx_x * 128 + threadIdx_x) & 31)), other_2 ? other : (float)other_1);
    cd_atomic_add_f64((double*)(to_float64 + ((blockIdx_x * 128 + threadIdx_x) & 31)), (double)(other_2 ? other : (float)other_1));
}
