// Written by chipdock for target opencl: OpenCL C 1.2.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline int cd_atomic_add_i32_local(volatile __local int* p, int x) {
    return atomic_add(p, x);
}
static inline int cd_atomic_add_i32_global(volatile __global int* p, int x) {
    return atomic_add(p, x);
}
static inline uint cd_atomic_add_u32_local(volatile __local uint* p, uint x) {
    return atomic_add(p, x);
}
static inline uint cd_atomic_add_u32_global(volatile __global uint* p, uint x) {
    return atomic_add(p, x);
}
static inline long cd_atomic_add_i64_local(volatile __local long* p, long x) {
    return atom_add(p, x);
}
static inline long cd_atomic_add_i64_global(volatile __global long* p, long x) {
    return atom_add(p, x);
}
#if defined(__clang__) || defined(__GNUC__)
#define CD_MAY_ALIAS __attribute__((may_alias))
#else
#define CD_MAY_ALIAS
#endif
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
static inline float cd_atomic_add_f16_local(volatile __local ushort* p, float x) {
    uint shift = ((uintptr_t)p & 2) * 8;
    volatile __local uint* word = (volatile __local uint*)(p - (shift >> 4));
    uint old = *word;
    for (;;) {
        float before = cd_f16_value((ushort)(old >> shift));
        uint seen = atomic_cmpxchg(word, old, (old & ~(0xffffu << shift)) | (uint)cd_f16_bits(before + x) << shift);
        if (seen == old) return before;
        old = seen;
    }
}
static inline float cd_atomic_add_f16_global(volatile __global ushort* p, float x) {
    uint shift = ((uintptr_t)p & 2) * 8;
    volatile __global uint* word = (volatile __global uint*)(p - (shift >> 4));
    uint old = *word;
    for (;;) {
        float before = cd_f16_value((ushort)(old >> shift));
        uint seen = atomic_cmpxchg(word, old, (old & ~(0xffffu << shift)) | (uint)cd_f16_bits(before + x) << shift);
        if (seen == old) return before;
        old = seen;
    }
}
static inline float cd_atomic_add_f32_local(volatile __local float* p, float x) {
    volatile __local uint* word = (volatile __local uint*)p;
    uint old = *word, seen;
    while ((seen = atomic_cmpxchg(word, old, as_uint(as_float(old) + x))) != old) old = seen;
    return as_float(old);
}
static inline float cd_atomic_add_f32_global(volatile __global float* p, float x) {
    volatile __global uint* word = (volatile __global uint*)p;
    uint old = *word, seen;
    while ((seen = atomic_cmpxchg(word, old, as_uint(as_float(old) + x))) != old) old = seen;
    return as_float(old);
}
static inline double cd_atomic_add_f64_local(volatile __local double* p, double x) {
    volatile __local ulong* word = (volatile __local ulong*)p;
    ulong old = *word, seen;
    while ((seen = atom_cmpxchg(word, old, as_ulong(as_double(old) + x))) != old) old = seen;
    return as_double(old);
}
static inline double cd_atomic_add_f64_global(volatile __global double* p, double x) {
    volatile __global ulong* word = (volatile __global ulong*)p;
    ulong old = *word, seen;
    while ((seen = atom_cmpxchg(word, old, as_ulong(as_double(old) + x))) != old) old = seen;
    return as_double(old);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void atomics_kernel(__global int* restrict to_int32, __global uint* restrict to_uint32, __global long* restrict to_int64, __global ushort* restrict to_float16, __global float* restrict to_float32, __global double* restrict to_float64, int n_blocks) {
    __local int own[3];
    __local uint own_1[3];
    __local long own_2[3];
    __local ushort own_3[4] __attribute__((aligned(4)));
    __local float own_4[3];
    __local double own_5[3];
    const int b = (int)get_group_id(0);
    const int t = (int)get_local_id(0);
    cd_atomic_add_i32_local(own + 2, 1);
    const int before = cd_atomic_add_i32_global(to_int32 + b, 1);
    to_int32[t + 64] = before;
    cd_atomic_add_u32_local(own_1 + 2, 1u);
    const uint before_1 = cd_atomic_add_u32_global(to_uint32 + b, 1u);
    to_uint32[t + 64] = before_1;
    cd_atomic_add_i64_local(own_2 + 2, 1L);
    const long before_2 = cd_atomic_add_i64_global(to_int64 + b, 1L);
    to_int64[t + 64] = before_2;
    cd_atomic_add_f16_local(own_3 + 2, 1.0f);
    const float before_3 = cd_atomic_add_f16_global(to_float16 + b, 1.0f);
    to_float16[t + 64] = cd_f16_bits(before_3);
    cd_atomic_add_f32_local(own_4 + 2, 1.0f);
    const float before_4 = cd_atomic_add_f32_global(to_float32 + b, 1.0f);
    to_float32[t + 64] = before_4;
    cd_atomic_add_f64_local(own_5 + 2, 1.0);
    const double before_5 = cd_atomic_add_f64_global(to_float64 + b, 1.0);
    to_float64[t + 64] = before_5;
}
