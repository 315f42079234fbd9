// Written by chipdock for target c: C11 and the vector types of gcc and clang.
// cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

static inline __attribute__((always_inline)) int32_t cd_hidden_i32(int32_t x) {
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#else
    __asm__("" : "+r"(x));
#endif
#endif
    return x;
}
static inline __attribute__((always_inline)) int32_t cd_floordiv_i32(int32_t a, int32_t b) {
    if (b == 0) return a;
    if (b == -1) return (int32_t)(0 - (uint32_t)a);
    a = cd_hidden_i32(a);
    b = cd_hidden_i32(b);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline __attribute__((always_inline)) int32_t cd_mod_i32(int32_t a, int32_t b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
#if defined(__FLT16_MANT_DIG__) && !defined(CHIPDOCK_SOFT_FLOAT16) && (defined(__clang__) || !defined(__SSE2__))
static inline uint16_t cd_f16_bits(float x) {
    _Float16 half = (_Float16)x;
    uint16_t bits;
    __builtin_memcpy(&bits, &half, sizeof(bits));
    return bits;
}
static inline float cd_f16_value(uint16_t bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, sizeof(half));
    return (float)half;
}
#else
static inline uint32_t cd_f16_u32(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return bits;
}
static inline float cd_f16_f32(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}
static inline float cd_f16_value(uint16_t bits) {
    uint32_t rest = (uint32_t)(bits & 0x7fff) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t normal = rest + 0x38000000u + (rest >= 0x0f800000u ? 0x38000000u : 0u);
    // Below the least normal half: its digits behind those of 2^-14, which is subtracted.
    uint32_t small = cd_f16_u32(cd_f16_f32(rest + 0x38800000u) - cd_f16_f32(0x38800000u));
    return cd_f16_f32((rest < 0x00800000u ? small : normal) | sign);
}
static inline uint16_t cd_f16_bits(float x) {
    uint32_t bits = cd_f16_u32(x), rest = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    uint32_t bounded = rest < 0x47800000u ? rest : 0x47800000u;
    uint32_t normal = (bounded + 0xfffu + (bounded >> 13 & 1u) - 0x38000000u) >> 13;
    // Below the least normal half: adding 0.5 leaves units of 2^-24 and rounds on the way.
    uint32_t small = cd_f16_u32(cd_f16_f32(bounded) + 0.5f) - 0x3f000000u;
    uint32_t half = rest < 0x38800000u ? small : normal;
    return (uint16_t)(sign | (rest > 0x7f800000u ? 0x7e00u : half));
}
#endif
static inline __attribute__((always_inline)) float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
static inline __attribute__((always_inline)) uint32_t cd_u32_bits_of_f32(float x) {
    union { float from; uint32_t to; } bits;
    bits.from = x;
    return bits.to;
}
static inline __attribute__((always_inline)) float cd_f32_bits_of_u32(uint32_t x) {
    union { uint32_t from; float to; } bits;
    bits.from = x;
    return bits.to;
}
static inline __attribute__((always_inline)) float cd_odd_f32(double x) {
    float f = (float)x;
    if (x != x || (double)f == x) return f;
    double a = x < 0 ? -x : x, b = f < 0 ? -(double)f : (double)f;
    return cd_f32_bits_of_u32((cd_u32_bits_of_f32(f) - (b > a)) | 1u);
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define CD_KEEP_BRANCHES __asm__ volatile ("")
#else
#define CD_KEEP_BRANCHES (void)0
#endif

__attribute__((unused)) static int32_t scalars(int32_t* restrict A, int32_t* restrict B, uint16_t* restrict H, int32_t n) {
    for (int32_t i = 0; i < 8; ++i) {
        for (int32_t j_count = 0; j_count < n; ++j_count) {
            const int32_t j = (int32_t)((uint32_t)2 + (uint32_t)j_count * (uint32_t)3);
            CD_KEEP_BRANCHES;
            const int32_t for_1 = (int32_t)((uint32_t)A[(int64_t)i * n + j] + 7u);
            int32_t c;
            if (j < n) {
                const int32_t x = A[j];
                c = (int32_t)((uint32_t)x * (uint32_t)x);
            } else {
                c = -1;
            }
            B[(int64_t)i * n + j] = (int32_t)((uint32_t)cd_floordiv_i32(for_1, 3) + (uint32_t)c);
            B[i * 4 + 1] = cd_mod_i32(for_1, n);
            H[j] = cd_f16_bits(cd_round_f16(cd_f16_value(H[j]) * 0.099975586f) + cd_round_f16(cd_odd_f32((double)A[j])));
        }
    }
    return 0;
}
