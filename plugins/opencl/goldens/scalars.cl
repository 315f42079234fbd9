// Written by chipdock for target opencl: OpenCL C 1.2.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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
static inline float cd_bf16_value(ushort bits) {
    return as_float((uint)bits << 16);
}
static inline ushort cd_bf16_bits(float x) {
    uint bits = as_uint(x);
    return (ushort)(x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : bits >> 16 | 64u);
}
static inline char cd_div_i8(char a, char b) {
    if (b == 0) return a;
    if (b == -1) return (char)(0 - (uint)a);
    return a / b;
}
static inline char cd_mod_i8(char a, char b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static inline char cd_floordiv_i8(char a, char b) {
    if (b == 0) return a;
    if (b == -1) return (char)(0 - (uint)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline char cd_floormod_i8(char a, char b) {
    if (b == 0 || b == -1) return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
static inline char cd_min_i8(char a, char b) {
    return a < b ? a : b;
}
static inline char cd_abs_i8(char x) {
    return x < 0 ? (char)(0 - (uint)x) : x;
}
static inline char cd_popcount_i8(char x) {
    return popcount(x);
}
static inline int cd_clz_i8(char x) {
    return x == 0 ? 8 : (int)clz(x);
}
static inline float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
static inline float cd_round_bf16(float x) {
    return cd_bf16_value(cd_bf16_bits(x));
}
static inline short cd_div_i16(short a, short b) {
    if (b == 0) return a;
    if (b == -1) return (short)(0 - (uint)a);
    return a / b;
}
static inline short cd_mod_i16(short a, short b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static inline short cd_floordiv_i16(short a, short b) {
    if (b == 0) return a;
    if (b == -1) return (short)(0 - (uint)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline short cd_floormod_i16(short a, short b) {
    if (b == 0 || b == -1) return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
static inline short cd_min_i16(short a, short b) {
    return a < b ? a : b;
}
static inline short cd_abs_i16(short x) {
    return x < 0 ? (short)(0 - (uint)x) : x;
}
static inline short cd_popcount_i16(short x) {
    return popcount(x);
}
static inline int cd_clz_i16(short x) {
    return x == 0 ? 16 : (int)clz(x);
}
static inline int cd_div_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (uint)a);
    return a / b;
}
static inline int cd_mod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static inline int cd_floordiv_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (uint)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int cd_floormod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
static inline int cd_min_i32(int a, int b) {
    return a < b ? a : b;
}
static inline int cd_abs_i32(int x) {
    return x < 0 ? (int)(0 - (uint)x) : x;
}
static inline int cd_clz_i32(int x) {
    return x == 0 ? 32 : clz(x);
}
static inline float cd_odd_from_int32(int x) {
    float f = convert_float_rtz(x);
    return (int)f != x ? as_float(as_uint(f) | 1u) : f;
}
static inline long cd_div_i64(long a, long b) {
    if (b == 0) return a;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b;
}
static inline long cd_mod_i64(long a, long b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static inline long cd_floordiv_i64(long a, long b) {
    if (b == 0) return a;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline long cd_floormod_i64(long a, long b) {
    if (b == 0 || b == -1) return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
static inline long cd_min_i64(long a, long b) {
    return a < b ? a : b;
}
static inline long cd_abs_i64(long x) {
    return x < 0 ? (long)(0 - (ulong)x) : x;
}
static inline int cd_clz_i64(long x) {
    return x == 0 ? 64 : (int)clz(x);
}
static inline float cd_odd_from_int64(long x) {
    float f = convert_float_rtz(x);
    return (long)f != x ? as_float(as_uint(f) | 1u) : f;
}
static inline uchar cd_div_u8(uchar a, uchar b) {
    return b == 0 ? a : a / b;
}
static inline uchar cd_mod_u8(uchar a, uchar b) {
    return b == 0 ? 0 : a % b;
}
static inline uchar cd_floordiv_u8(uchar a, uchar b) {
    return b == 0 ? a : a / b;
}
static inline uchar cd_floormod_u8(uchar a, uchar b) {
    return b == 0 ? 0 : a % b;
}
static inline uchar cd_min_u8(uchar a, uchar b) {
    return a < b ? a : b;
}
static inline uchar cd_popcount_u8(uchar x) {
    return popcount(x);
}
static inline int cd_clz_u8(uchar x) {
    return x == 0 ? 8 : (int)clz(x);
}
static inline ushort cd_div_u16(ushort a, ushort b) {
    return b == 0 ? a : a / b;
}
static inline ushort cd_mod_u16(ushort a, ushort b) {
    return b == 0 ? 0 : a % b;
}
static inline ushort cd_floordiv_u16(ushort a, ushort b) {
    return b == 0 ? a : a / b;
}
static inline ushort cd_floormod_u16(ushort a, ushort b) {
    return b == 0 ? 0 : a % b;
}
static inline ushort cd_min_u16(ushort a, ushort b) {
    return a < b ? a : b;
}
static inline ushort cd_popcount_u16(ushort x) {
    return popcount(x);
}
static inline int cd_clz_u16(ushort x) {
    return x == 0 ? 16 : (int)clz(x);
}
static inline uint cd_div_u32(uint a, uint b) {
    return b == 0 ? a : a / b;
}
static inline uint cd_mod_u32(uint a, uint b) {
    return b == 0 ? 0 : a % b;
}
static inline uint cd_floordiv_u32(uint a, uint b) {
    return b == 0 ? a : a / b;
}
static inline uint cd_floormod_u32(uint a, uint b) {
    return b == 0 ? 0 : a % b;
}
static inline uint cd_min_u32(uint a, uint b) {
    return a < b ? a : b;
}
static inline int cd_clz_u32(uint x) {
    return x == 0 ? 32 : (int)clz(x);
}
static inline float cd_odd_from_uint32(uint x) {
    float f = convert_float_rtz(x);
    return (uint)f != x ? as_float(as_uint(f) | 1u) : f;
}
static inline ulong cd_div_u64(ulong a, ulong b) {
    return b == 0 ? a : a / b;
}
static inline ulong cd_mod_u64(ulong a, ulong b) {
    return b == 0 ? 0 : a % b;
}
static inline ulong cd_floordiv_u64(ulong a, ulong b) {
    return b == 0 ? a : a / b;
}
static inline ulong cd_floormod_u64(ulong a, ulong b) {
    return b == 0 ? 0 : a % b;
}
static inline ulong cd_min_u64(ulong a, ulong b) {
    return a < b ? a : b;
}
static inline int cd_clz_u64(ulong x) {
    return x == 0 ? 64 : (int)clz(x);
}
static inline float cd_odd_from_uint64(ulong x) {
    float f = convert_float_rtz(x);
    return (ulong)f != x ? as_float(as_uint(f) | 1u) : f;
}
static inline char cd_i8_from_f32(float x) {
    if (x >= 128.0f) return 127;
    if (x > -128.0f) return (char)x;
    return x != x ? 0 : -128;
}
static inline short cd_i16_from_f32(float x) {
    if (x >= 32768.0f) return 32767;
    if (x > -32768.0f) return (short)x;
    return x != x ? 0 : -32768;
}
static inline int cd_i32_from_f32(float x) {
    if (x >= 2147483648.0f) return 2147483647;
    if (x > -2147483648.0f) return (int)x;
    return x != x ? 0 : INT_MIN;
}
static inline long cd_i64_from_f32(float x) {
    if (x >= 9.223372036854776e18f) return 9223372036854775807L;
    if (x > -9.223372036854776e18f) return (long)x;
    return x != x ? 0 : LONG_MIN;
}
static inline uchar cd_u8_from_f32(float x) {
    if (x >= 256.0f) return 255;
    if (x > 0.0f) return (uchar)x;
    return x != x ? 0 : 0;
}
static inline ushort cd_u16_from_f32(float x) {
    if (x >= 65536.0f) return 65535;
    if (x > 0.0f) return (ushort)x;
    return x != x ? 0 : 0;
}
static inline uint cd_u32_from_f32(float x) {
    if (x >= 4294967296.0f) return 4294967295u;
    if (x > 0.0f) return (uint)x;
    return x != x ? 0 : 0u;
}
static inline ulong cd_u64_from_f32(float x) {
    if (x >= 1.8446744073709552e19f) return 18446744073709551615UL;
    if (x > 0.0f) return (ulong)x;
    return x != x ? 0 : 0UL;
}
static inline float cd_sigmoid_f32(float x) {
    return 1 / (1 + exp(-x));
}
static inline bool cd_isinf_f32(float x) {
    return fabs(x) == INFINITY;
}
static inline double cd_sigmoid_f64(double x) {
    return 1 / (1 + exp(-x));
}
static inline bool cd_isinf_f64(double x) {
    return fabs(x) == INFINITY;
}
static inline char cd_i8_from_f64(double x) {
    if (x >= 128.0) return 127;
    if (x > -128.0) return (char)x;
    return x != x ? 0 : -128;
}
static inline short cd_i16_from_f64(double x) {
    if (x >= 32768.0) return 32767;
    if (x > -32768.0) return (short)x;
    return x != x ? 0 : -32768;
}
static inline int cd_i32_from_f64(double x) {
    if (x >= 2147483648.0) return 2147483647;
    if (x > -2147483648.0) return (int)x;
    return x != x ? 0 : INT_MIN;
}
static inline long cd_i64_from_f64(double x) {
    if (x >= 9.223372036854776e18) return 9223372036854775807L;
    if (x > -9.223372036854776e18) return (long)x;
    return x != x ? 0 : LONG_MIN;
}
static inline uchar cd_u8_from_f64(double x) {
    if (x >= 256.0) return 255;
    if (x > 0.0) return (uchar)x;
    return x != x ? 0 : 0;
}
static inline ushort cd_u16_from_f64(double x) {
    if (x >= 65536.0) return 65535;
    if (x > 0.0) return (ushort)x;
    return x != x ? 0 : 0;
}
static inline uint cd_u32_from_f64(double x) {
    if (x >= 4294967296.0) return 4294967295u;
    if (x > 0.0) return (uint)x;
    return x != x ? 0 : 0u;
}
static inline ulong cd_u64_from_f64(double x) {
    if (x >= 1.8446744073709552e19) return 18446744073709551615UL;
    if (x > 0.0) return (ulong)x;
    return x != x ? 0 : 0UL;
}
static inline float cd_odd_from_float64(double x) {
    float f = convert_float_rtz(x);
    return (double)f != x && x == x ? as_float(as_uint(f) | 1u) : f;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scalars_kernel(__global uchar* restrict X_bool, __global char* restrict X_int8, __global short* restrict X_int16, __global int* restrict X_int32, __global long* restrict X_int64, __global uchar* restrict X_uint8, __global ushort* restrict X_uint16, __global uint* restrict X_uint32, __global ulong* restrict X_uint64, __global ushort* restrict X_float16, __global ushort* restrict X_bfloat16, __global float* restrict X_float32, __global double* restrict X_float64, int n_blocks) {
    const int t = (int)get_local_id(0);
    X_bool[t] = X_bool[t] != 0;
    X_bool[t] = X_bool[t] != 0;
    X_int8[t] = (char)(X_bool[t] != 0);
    X_int16[t] = (short)(X_bool[t] != 0);
    X_int32[t] = (int)(X_bool[t] != 0);
    X_int64[t] = (long)(X_bool[t] != 0);
    X_uint8[t] = (uchar)(X_bool[t] != 0);
    X_uint16[t] = (ushort)(X_bool[t] != 0);
    X_uint32[t] = (uint)(X_bool[t] != 0);
    X_uint64[t] = (ulong)(X_bool[t] != 0);
    X_float16[t] = cd_f16_bits((float)(X_bool[t] != 0));
    X_bfloat16[t] = cd_bf16_bits((float)(X_bool[t] != 0));
    X_float32[t] = (float)(X_bool[t] != 0);
    X_float64[t] = (double)(X_bool[t] != 0);
    X_int8[t] = (char)((uint)X_int8[t] + (uint)X_int8[t]);
    X_int8[t] = (char)((uint)X_int8[t] * (uint)X_int8[t]);
    X_int8[t] = cd_div_i8(X_int8[t], X_int8[t]);
    X_int8[t] = cd_mod_i8(X_int8[t], X_int8[t]);
    X_int8[t] = cd_floordiv_i8(X_int8[t], X_int8[t]);
    X_int8[t] = cd_floormod_i8(X_int8[t], X_int8[t]);
    X_int8[t] = cd_min_i8(X_int8[t], X_int8[t]);
    X_int8[t] = (char)((uint)X_int8[t] << (X_int8[t] & 7));
    X_int8[t] = X_int8[t] >> (X_int8[t] & 7);
    X_int8[t] = X_int8[t] ^ X_int8[t];
    X_int8[t] = cd_abs_i8(X_int8[t]);
    X_int8[t] = ~X_int8[t];
    X_int8[t] = cd_popcount_i8(X_int8[t]);
    X_int8[t] = (char)cd_clz_i8(X_int8[t]);
    X_bool[t] = X_int8[t] != 0;
    X_int8[t] = X_int8[t];
    X_int16[t] = (short)X_int8[t];
    X_int32[t] = (int)X_int8[t];
    X_int64[t] = (long)X_int8[t];
    X_uint8[t] = (uchar)X_int8[t];
    X_uint16[t] = (ushort)X_int8[t];
    X_uint32[t] = (uint)X_int8[t];
    X_uint64[t] = (ulong)X_int8[t];
    X_float16[t] = cd_f16_bits((float)X_int8[t]);
    X_bfloat16[t] = cd_bf16_bits((float)X_int8[t]);
    X_float32[t] = (float)X_int8[t];
    X_float64[t] = (double)X_int8[t];
    X_int16[t] = (short)((uint)X_int16[t] + (uint)X_int16[t]);
    X_int16[t] = (short)((uint)X_int16[t] * (uint)X_int16[t]);
    X_int16[t] = cd_div_i16(X_int16[t], X_int16[t]);
    X_int16[t] = cd_mod_i16(X_int16[t], X_int16[t]);
    X_int16[t] = cd_floordiv_i16(X_int16[t], X_int16[t]);
    X_int16[t] = cd_floormod_i16(X_int16[t], X_int16[t]);
    X_int16[t] = cd_min_i16(X_int16[t], X_int16[t]);
    X_int16[t] = (short)((uint)X_int16[t] << (X_int16[t] & 15));
    X_int16[t] = X_int16[t] >> (X_int16[t] & 15);
    X_int16[t] = X_int16[t] ^ X_int16[t];
    X_int16[t] = cd_abs_i16(X_int16[t]);
    X_int16[t] = ~X_int16[t];
    X_int16[t] = cd_popcount_i16(X_int16[t]);
    X_int16[t] = (short)cd_clz_i16(X_int16[t]);
    X_bool[t] = X_int16[t] != 0;
    X_int8[t] = (char)X_int16[t];
    X_int16[t] = X_int16[t];
    X_int32[t] = (int)X_int16[t];
    X_int64[t] = (long)X_int16[t];
    X_uint8[t] = (uchar)X_int16[t];
    X_uint16[t] = (ushort)X_int16[t];
    X_uint32[t] = (uint)X_int16[t];
    X_uint64[t] = (ulong)X_int16[t];
    X_float16[t] = cd_f16_bits((float)X_int16[t]);
    X_bfloat16[t] = cd_bf16_bits((float)X_int16[t]);
    X_float32[t] = (float)X_int16[t];
    X_float64[t] = (double)X_int16[t];
    X_int32[t] = (int)((uint)X_int32[t] + (uint)X_int32[t]);
    X_int32[t] = (int)((uint)X_int32[t] * (uint)X_int32[t]);
    X_int32[t] = cd_div_i32(X_int32[t], X_int32[t]);
    X_int32[t] = cd_mod_i32(X_int32[t], X_int32[t]);
    X_int32[t] = cd_floordiv_i32(X_int32[t], X_int32[t]);
    X_int32[t] = cd_floormod_i32(X_int32[t], X_int32[t]);
    X_int32[t] = cd_min_i32(X_int32[t], X_int32[t]);
    X_int32[t] = (int)((uint)X_int32[t] << (X_int32[t] & 31));
    X_int32[t] = X_int32[t] >> (X_int32[t] & 31);
    X_int32[t] = X_int32[t] ^ X_int32[t];
    X_int32[t] = cd_abs_i32(X_int32[t]);
    X_int32[t] = ~X_int32[t];
    X_int32[t] = popcount(X_int32[t]);
    X_int32[t] = cd_clz_i32(X_int32[t]);
    X_bool[t] = X_int32[t] != 0;
    X_int8[t] = (char)X_int32[t];
    X_int16[t] = (short)X_int32[t];
    X_int32[t] = X_int32[t];
    X_int64[t] = (long)X_int32[t];
    X_uint8[t] = (uchar)X_int32[t];
    X_uint16[t] = (ushort)X_int32[t];
    X_uint32[t] = (uint)X_int32[t];
    X_uint64[t] = (ulong)X_int32[t];
    X_float16[t] = cd_f16_bits(cd_odd_from_int32(X_int32[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_odd_from_int32(X_int32[t]));
    X_float32[t] = (float)X_int32[t];
    X_float64[t] = (double)X_int32[t];
    X_int64[t] = (long)((ulong)X_int64[t] + (ulong)X_int64[t]);
    X_int64[t] = (long)((ulong)X_int64[t] * (ulong)X_int64[t]);
    X_int64[t] = cd_div_i64(X_int64[t], X_int64[t]);
    X_int64[t] = cd_mod_i64(X_int64[t], X_int64[t]);
    X_int64[t] = cd_floordiv_i64(X_int64[t], X_int64[t]);
    X_int64[t] = cd_floormod_i64(X_int64[t], X_int64[t]);
    X_int64[t] = cd_min_i64(X_int64[t], X_int64[t]);
    X_int64[t] = (long)((ulong)X_int64[t] << (X_int64[t] & 63));
    X_int64[t] = X_int64[t] >> (X_int64[t] & 63);
    X_int64[t] = X_int64[t] ^ X_int64[t];
    X_int64[t] = cd_abs_i64(X_int64[t]);
    X_int64[t] = ~X_int64[t];
    X_int64[t] = popcount(X_int64[t]);
    X_int64[t] = (long)cd_clz_i64(X_int64[t]);
    X_bool[t] = X_int64[t] != 0L;
    X_int8[t] = (char)X_int64[t];
    X_int16[t] = (short)X_int64[t];
    X_int32[t] = (int)X_int64[t];
    X_int64[t] = X_int64[t];
    X_uint8[t] = (uchar)X_int64[t];
    X_uint16[t] = (ushort)X_int64[t];
    X_uint32[t] = (uint)X_int64[t];
    X_uint64[t] = (ulong)X_int64[t];
    X_float16[t] = cd_f16_bits(cd_odd_from_int64(X_int64[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_odd_from_int64(X_int64[t]));
    X_float32[t] = (float)X_int64[t];
    X_float64[t] = (double)X_int64[t];
    X_uint8[t] = (uchar)((uint)X_uint8[t] + (uint)X_uint8[t]);
    X_uint8[t] = (uchar)((uint)X_uint8[t] * (uint)X_uint8[t]);
    X_uint8[t] = cd_div_u8(X_uint8[t], X_uint8[t]);
    X_uint8[t] = cd_mod_u8(X_uint8[t], X_uint8[t]);
    X_uint8[t] = cd_floordiv_u8(X_uint8[t], X_uint8[t]);
    X_uint8[t] = cd_floormod_u8(X_uint8[t], X_uint8[t]);
    X_uint8[t] = cd_min_u8(X_uint8[t], X_uint8[t]);
    X_uint8[t] = (uchar)((uint)X_uint8[t] << (X_uint8[t] & 7));
    X_uint8[t] = X_uint8[t] >> (X_uint8[t] & 7);
    X_uint8[t] = X_uint8[t] ^ X_uint8[t];
    X_uint8[t] = +X_uint8[t];
    X_uint8[t] = (uchar)~X_uint8[t];
    X_uint8[t] = cd_popcount_u8(X_uint8[t]);
    X_uint8[t] = (uchar)cd_clz_u8(X_uint8[t]);
    X_bool[t] = X_uint8[t] != 0;
    X_int8[t] = (char)X_uint8[t];
    X_int16[t] = (short)X_uint8[t];
    X_int32[t] = (int)X_uint8[t];
    X_int64[t] = (long)X_uint8[t];
    X_uint8[t] = X_uint8[t];
    X_uint16[t] = (ushort)X_uint8[t];
    X_uint32[t] = (uint)X_uint8[t];
    X_uint64[t] = (ulong)X_uint8[t];
    X_float16[t] = cd_f16_bits((float)X_uint8[t]);
    X_bfloat16[t] = cd_bf16_bits((float)X_uint8[t]);
    X_float32[t] = (float)X_uint8[t];
    X_float64[t] = (double)X_uint8[t];
    X_uint16[t] = (ushort)((uint)X_uint16[t] + (uint)X_uint16[t]);
    X_uint16[t] = (ushort)((uint)X_uint16[t] * (uint)X_uint16[t]);
    X_uint16[t] = cd_div_u16(X_uint16[t], X_uint16[t]);
    X_uint16[t] = cd_mod_u16(X_uint16[t], X_uint16[t]);
    X_uint16[t] = cd_floordiv_u16(X_uint16[t], X_uint16[t]);
    X_uint16[t] = cd_floormod_u16(X_uint16[t], X_uint16[t]);
    X_uint16[t] = cd_min_u16(X_uint16[t], X_uint16[t]);
    X_uint16[t] = (ushort)((uint)X_uint16[t] << (X_uint16[t] & 15));
    X_uint16[t] = X_uint16[t] >> (X_uint16[t] & 15);
    X_uint16[t] = X_uint16[t] ^ X_uint16[t];
    X_uint16[t] = +X_uint16[t];
    X_uint16[t] = (ushort)~X_uint16[t];
    X_uint16[t] = cd_popcount_u16(X_uint16[t]);
    X_uint16[t] = (ushort)cd_clz_u16(X_uint16[t]);
    X_bool[t] = X_uint16[t] != 0;
    X_int8[t] = (char)X_uint16[t];
    X_int16[t] = (short)X_uint16[t];
    X_int32[t] = (int)X_uint16[t];
    X_int64[t] = (long)X_uint16[t];
    X_uint8[t] = (uchar)X_uint16[t];
    X_uint16[t] = X_uint16[t];
    X_uint32[t] = (uint)X_uint16[t];
    X_uint64[t] = (ulong)X_uint16[t];
    X_float16[t] = cd_f16_bits((float)X_uint16[t]);
    X_bfloat16[t] = cd_bf16_bits((float)X_uint16[t]);
    X_float32[t] = (float)X_uint16[t];
    X_float64[t] = (double)X_uint16[t];
    X_uint32[t] = X_uint32[t] + X_uint32[t];
    X_uint32[t] = X_uint32[t] * X_uint32[t];
    X_uint32[t] = cd_div_u32(X_uint32[t], X_uint32[t]);
    X_uint32[t] = cd_mod_u32(X_uint32[t], X_uint32[t]);
    X_uint32[t] = cd_floordiv_u32(X_uint32[t], X_uint32[t]);
    X_uint32[t] = cd_floormod_u32(X_uint32[t], X_uint32[t]);
    X_uint32[t] = cd_min_u32(X_uint32[t], X_uint32[t]);
    X_uint32[t] = X_uint32[t] << (X_uint32[t] & 31);
    X_uint32[t] = X_uint32[t] >> (X_uint32[t] & 31);
    X_uint32[t] = X_uint32[t] ^ X_uint32[t];
    X_uint32[t] = +X_uint32[t];
    X_uint32[t] = ~X_uint32[t];
    X_uint32[t] = popcount(X_uint32[t]);
    X_uint32[t] = (uint)cd_clz_u32(X_uint32[t]);
    X_bool[t] = X_uint32[t] != 0u;
    X_int8[t] = (char)X_uint32[t];
    X_int16[t] = (short)X_uint32[t];
    X_int32[t] = (int)X_uint32[t];
    X_int64[t] = (long)X_uint32[t];
    X_uint8[t] = (uchar)X_uint32[t];
    X_uint16[t] = (ushort)X_uint32[t];
    X_uint32[t] = X_uint32[t];
    X_uint64[t] = (ulong)X_uint32[t];
    X_float16[t] = cd_f16_bits(cd_odd_from_uint32(X_uint32[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_odd_from_uint32(X_uint32[t]));
    X_float32[t] = (float)X_uint32[t];
    X_float64[t] = (double)X_uint32[t];
    X_uint64[t] = X_uint64[t] + X_uint64[t];
    X_uint64[t] = X_uint64[t] * X_uint64[t];
    X_uint64[t] = cd_div_u64(X_uint64[t], X_uint64[t]);
    X_uint64[t] = cd_mod_u64(X_uint64[t], X_uint64[t]);
    X_uint64[t] = cd_floordiv_u64(X_uint64[t], X_uint64[t]);
    X_uint64[t] = cd_floormod_u64(X_uint64[t], X_uint64[t]);
    X_uint64[t] = cd_min_u64(X_uint64[t], X_uint64[t]);
    X_uint64[t] = X_uint64[t] << (X_uint64[t] & 63);
    X_uint64[t] = X_uint64[t] >> (X_uint64[t] & 63);
    X_uint64[t] = X_uint64[t] ^ X_uint64[t];
    X_uint64[t] = +X_uint64[t];
    X_uint64[t] = ~X_uint64[t];
    X_uint64[t] = popcount(X_uint64[t]);
    X_uint64[t] = (ulong)cd_clz_u64(X_uint64[t]);
    X_bool[t] = X_uint64[t] != 0UL;
    X_int8[t] = (char)X_uint64[t];
    X_int16[t] = (short)X_uint64[t];
    X_int32[t] = (int)X_uint64[t];
    X_int64[t] = (long)X_uint64[t];
    X_uint8[t] = (uchar)X_uint64[t];
    X_uint16[t] = (ushort)X_uint64[t];
    X_uint32[t] = (uint)X_uint64[t];
    X_uint64[t] = X_uint64[t];
    X_float16[t] = cd_f16_bits(cd_odd_from_uint64(X_uint64[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_odd_from_uint64(X_uint64[t]));
    X_float32[t] = (float)X_uint64[t];
    X_float64[t] = (double)X_uint64[t];
    X_float16[t] = cd_f16_bits(cd_f16_value(X_float16[t]));
    X_bool[t] = cd_f16_value(X_float16[t]) != 0.0f;
    X_int8[t] = cd_i8_from_f32(cd_f16_value(X_float16[t]));
    X_int16[t] = cd_i16_from_f32(cd_f16_value(X_float16[t]));
    X_int32[t] = cd_i32_from_f32(cd_f16_value(X_float16[t]));
    X_int64[t] = cd_i64_from_f32(cd_f16_value(X_float16[t]));
    X_uint8[t] = cd_u8_from_f32(cd_f16_value(X_float16[t]));
    X_uint16[t] = cd_u16_from_f32(cd_f16_value(X_float16[t]));
    X_uint32[t] = cd_u32_from_f32(cd_f16_value(X_float16[t]));
    X_uint64[t] = cd_u64_from_f32(cd_f16_value(X_float16[t]));
    X_float16[t] = cd_f16_bits(cd_f16_value(X_float16[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_f16_value(X_float16[t]));
    X_float32[t] = cd_f16_value(X_float16[t]);
    X_float64[t] = (double)cd_f16_value(X_float16[t]);
    X_bfloat16[t] = cd_bf16_bits(cd_bf16_value(X_bfloat16[t]));
    X_bool[t] = cd_bf16_value(X_bfloat16[t]) != 0.0f;
    X_int8[t] = cd_i8_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_int16[t] = cd_i16_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_int32[t] = cd_i32_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_int64[t] = cd_i64_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_uint8[t] = cd_u8_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_uint16[t] = cd_u16_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_uint32[t] = cd_u32_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_uint64[t] = cd_u64_from_f32(cd_bf16_value(X_bfloat16[t]));
    X_float16[t] = cd_f16_bits(cd_bf16_value(X_bfloat16[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_bf16_value(X_bfloat16[t]));
    X_float32[t] = cd_bf16_value(X_bfloat16[t]);
    X_float64[t] = (double)cd_bf16_value(X_bfloat16[t]);
    X_float32[t] = X_float32[t] / X_float32[t];
    X_float32[t] = NAN;
    X_float32[t] = -1.5f;
    X_float32[t] = exp(X_float32[t]);
    X_float32[t] = sqrt(X_float32[t]);
    X_float32[t] = rint(X_float32[t]);
    X_float32[t] = trunc(X_float32[t]);
    X_float32[t] = cd_sigmoid_f32(X_float32[t]);
    X_float32[t] = (float)cd_isinf_f32(X_float32[t]);
    X_bool[t] = X_float32[t] != 0.0f;
    X_int8[t] = cd_i8_from_f32(X_float32[t]);
    X_int16[t] = cd_i16_from_f32(X_float32[t]);
    X_int32[t] = cd_i32_from_f32(X_float32[t]);
    X_int64[t] = cd_i64_from_f32(X_float32[t]);
    X_uint8[t] = cd_u8_from_f32(X_float32[t]);
    X_uint16[t] = cd_u16_from_f32(X_float32[t]);
    X_uint32[t] = cd_u32_from_f32(X_float32[t]);
    X_uint64[t] = cd_u64_from_f32(X_float32[t]);
    X_float16[t] = cd_f16_bits(X_float32[t]);
    X_bfloat16[t] = cd_bf16_bits(X_float32[t]);
    X_float32[t] = X_float32[t];
    X_float64[t] = (double)X_float32[t];
    X_float64[t] = X_float64[t] / X_float64[t];
    X_float64[t] = as_double(0x7ff8000000000000UL);
    X_float64[t] = -1.5;
    X_float64[t] = exp(X_float64[t]);
    X_float64[t] = sqrt(X_float64[t]);
    X_float64[t] = rint(X_float64[t]);
    X_float64[t] = trunc(X_float64[t]);
    X_float64[t] = cd_sigmoid_f64(X_float64[t]);
    X_float64[t] = (double)cd_isinf_f64(X_float64[t]);
    X_bool[t] = X_float64[t] != 0.0;
    X_int8[t] = cd_i8_from_f64(X_float64[t]);
    X_int16[t] = cd_i16_from_f64(X_float64[t]);
    X_int32[t] = cd_i32_from_f64(X_float64[t]);
    X_int64[t] = cd_i64_from_f64(X_float64[t]);
    X_uint8[t] = cd_u8_from_f64(X_float64[t]);
    X_uint16[t] = cd_u16_from_f64(X_float64[t]);
    X_uint32[t] = cd_u32_from_f64(X_float64[t]);
    X_uint64[t] = cd_u64_from_f64(X_float64[t]);
    X_float16[t] = cd_f16_bits(cd_odd_from_float64(X_float64[t]));
    X_bfloat16[t] = cd_bf16_bits(cd_odd_from_float64(X_float64[t]));
    X_float32[t] = (float)X_float64[t];
    X_float64[t] = X_float64[t];
}
