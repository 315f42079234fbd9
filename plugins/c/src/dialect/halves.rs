//! float16 through the compiler's own type where it is fast.

use chipdock_codegen_source::Prelude;
use chipdock_codegen_source::c_family::Half;

use super::CDialect;

/// Defines both helpers of float16 at once: with the compiler's own half type, or with integers where there is none, and
/// for gcc on x86, which converts one lane at a time unless the processor computes in halves.
pub(super) fn define(dialect: &CDialect, half: Half, prelude: &mut Prelude) {
    if !matches!(half, Half::F16Value | Half::F16Bits) {
        return half.define(dialect, prelude);
    }
    prelude.define("cd_f16", |_| FLOAT16.to_owned());
}

/// The integers have no branches, so that loops of them become vectors.
const FLOAT16: &str = "\
#if defined(__FLT16_MANT_DIG__) && !defined(CHIPDOCK_SOFT_FLOAT16) && (defined(__clang__) || defined(__AVX512FP16__) || !defined(__SSE2__))
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
";
