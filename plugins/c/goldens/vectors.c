// Written by chipdock for target c: C11 and the vector types of gcc and clang.
// cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef float f32x16 __attribute__((vector_size(64)));
typedef float f32x16_u __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16_u __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) f32x16 cd_gather_f32x16_by_i32(const float* p, i32x16 index) {
    float r[16] = {0};
    for (int l = 0; l < 16; ++l) {
        r[l] = p[index[l]];
    }
    f32x16 v;
    __builtin_memcpy(&v, r, sizeof(v));
    return v;
}
static inline __attribute__((always_inline)) i32x16 cd_splat_i32x16(int32_t x) {
    return (i32x16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}
typedef int16_t i16x16 __attribute__((vector_size(32)));
typedef int8_t i8x16 __attribute__((vector_size(16)));
static inline __attribute__((always_inline)) f32x16 cd_select_f32x16(i32x16 m, f32x16 a, f32x16 b) {
    return (f32x16)((m & (i32x16)a) | (~m & (i32x16)b));
}
static inline __attribute__((always_inline)) f32x16 cd_load_f32x16_where(const float* p, i8x16 mask) {
    uint64_t words[2];
    __builtin_memcpy(words, &mask, sizeof(words));
    if ((words[0] & words[1]) == UINT64_MAX) return *(const f32x16_u*)p;
    float r[16] = {0};
    for (int word = 0; word < 2; ++word) {
        int l = word * 8;
        if (words[word] == UINT64_MAX) {
            __builtin_memcpy(r + l, p + l, 8 * sizeof(*p));
        } else if (words[word] != 0) {
#pragma GCC unroll 1
            for (; l < word * 8 + 8; ++l) {
                if (mask[l]) r[l] = p[l];
            }
        }
    }
    f32x16 v;
    __builtin_memcpy(&v, r, sizeof(v));
    return v;
}
static inline __attribute__((always_inline)) f32x16 cd_shuffle_f32x16_f32x16_f32x16_15_14_13_12_11_10_9_8_7_6_5_4_3_2_1_0(f32x16 a, f32x16 b) {
    return (f32x16){a[15], a[14], a[13], a[12], a[11], a[10], a[9], a[8], a[7], a[6], a[5], a[4], a[3], a[2], a[1], a[0]};
}
static inline __attribute__((always_inline)) void cd_store_f32x16_where(float* p, i8x16 mask, f32x16 x) {
    uint64_t words[2];
    __builtin_memcpy(words, &mask, sizeof(words));
    if ((words[0] & words[1]) == UINT64_MAX) {
        *(f32x16_u*)p = x;
        return;
    }
    for (int word = 0; word < 2; ++word) {
        int l = word * 8;
        if (words[word] == UINT64_MAX) {
            __builtin_memcpy(p + l, (const char*)&x + l * sizeof(*p), 8 * sizeof(*p));
        } else if (words[word] != 0) {
#pragma GCC unroll 1
            for (; l < word * 8 + 8; ++l) {
                if (mask[l]) p[l] = x[l];
            }
        }
    }
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define CD_KEEP_BRANCHES __asm__ volatile ("")
#else
#define CD_KEEP_BRANCHES (void)0
#endif

__attribute__((unused)) static int32_t vectors(float* restrict A, float* restrict B, int32_t* restrict Idx) {
    float acc[32] __attribute__((aligned(64), unused));
    *(f32x16_u*)acc = (f32x16){0};
    *(f32x16_u*)(acc + 16) = (f32x16){0};
    for (int32_t i = 0; i < 64; ++i) {
        CD_KEEP_BRANCHES;
        const i8x16 t = __builtin_convertvector(__builtin_convertvector((i32x16)((*(const i32x16_u*)(Idx + i * 16) & cd_splat_i32x16(1)) == (i32x16){0}), i16x16), i8x16);
        *(f32x16_u*)acc = *(const f32x16_u*)acc + cd_select_f32x16((i32x16)(*(const f32x16_u*)(A + i * 16) < cd_gather_f32x16_by_i32(A, *(const i32x16_u*)(Idx + i * 16))) & __builtin_convertvector(__builtin_convertvector(t, i16x16), i32x16), *(const f32x16_u*)(A + i * 16), cd_gather_f32x16_by_i32(A, *(const i32x16_u*)(Idx + i * 16))) * cd_load_f32x16_where(A + i * 16, t);
        *(f32x16_u*)(acc + 16) = cd_shuffle_f32x16_f32x16_f32x16_15_14_13_12_11_10_9_8_7_6_5_4_3_2_1_0(*(const f32x16_u*)(A + i * 16), cd_gather_f32x16_by_i32(A, *(const i32x16_u*)(Idx + i * 16)));
        cd_store_f32x16_where(B + i * 16, __builtin_convertvector(__builtin_convertvector((i32x16)((*(const i32x16_u*)(Idx + i * 16) & cd_splat_i32x16(1)) == (i32x16){0}), i16x16), i8x16), __builtin_convertvector(*(const i32x16_u*)(Idx + i * 16), f32x16));
    }
    *(f32x16_u*)B = *(const f32x16_u*)acc + *(const f32x16_u*)(acc + 16);
    return 0;
}
