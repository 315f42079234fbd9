// Written by chipdock for target c: C11 and the vector types of gcc and clang.
// cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

static inline int32_t cd_floordiv_i32(int32_t a, int32_t b) {
    if (b == 0) return a;
    if (b == -1) return (int32_t)(0 - (uint32_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int32_t cd_mod_i32(int32_t a, int32_t b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
#if defined(__FLT16_MANT_DIG__) && !defined(CHIPDOCK_SOFT_FLOAT16)
static inline uint16_t cd_f16_bits(float x) {
    _Float16 half = (_Float16)x;
    uint16_t bits;
    __builtin_memcpy(&bits, &half, sizeof(bits));
    return bits;
}
static inline float cd_f16_value(uint16_t bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, sizeof(bits));
    return (float)half;
}
#else
static inline uint16_t cd_f16_bits(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x1ff));
    if (bits >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000) {
        // Below the least normal half: adding 0.5 leaves units of 2^-24 and rounds on the way.
        float shifted;
        __builtin_memcpy(&shifted, &bits, sizeof(shifted));
        shifted += 0.5f;
        __builtin_memcpy(&bits, &shifted, sizeof(bits));
        return (uint16_t)(sign | (bits - 0x3f000000));
    }
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}
static inline float cd_f16_value(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    uint32_t bits = rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : (rest << 13) + 0x38000000;
    if (rest < 0x400) {
        float small = (float)rest * 0x1p-24f;
        __builtin_memcpy(&bits, &small, sizeof(bits));
    }
    bits |= sign;
    float x;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}
#endif
static inline float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
static inline float cd_odd_f32(double x) {
    float f = (float)x;
    if (x == x && (double)f != x) {
        uint32_t bits;
        __builtin_memcpy(&bits, &f, sizeof(bits));
        bits -= __builtin_fabs((double)f) > __builtin_fabs(x);
        bits |= 1;
        __builtin_memcpy(&f, &bits, sizeof(bits));
    }
    return f;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define CD_KEEP_BRANCHES __attribute__((optimize("no-tree-slp-vectorize", "no-tree-loop-if-convert")))
#else
#define CD_KEEP_BRANCHES
#endif

CD_KEEP_BRANCHES
__attribute__((unused)) static int32_t scalars(int32_t* restrict A, int32_t* restrict B, uint16_t* restrict H, int32_t n) {
    for (int32_t i = 0; i < 8; ++i) {
        for (int32_t j_count = 0; j_count < n; ++j_count) {
            const int32_t j = (int32_t)((uint32_t)2 + (uint32_t)j_count * (uint32_t)3);
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
