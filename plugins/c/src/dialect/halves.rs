//! float16 through the compiler's own type where it is fast, and the adjacent values of halves.

use chipdock_codegen_source::c_family::{CFamily as _, Half, short};
use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::DType;

use super::CDialect;

/// Defines both helpers of float16 at once: with the compiler's own half type, or with integers where there is none, and
/// for gcc on x86, which converts one lane at a time unless the processor computes in halves.
pub(super) fn define(dialect: &CDialect, half: Half, prelude: &mut Prelude) {
    if !matches!(half, Half::F16Value | Half::F16Bits) {
        return half.define(dialect, prelude);
    }
    prelude.define("cd_f16", |_| FLOAT16.to_owned());
}

/// The next half from `a` towards `b`: halves of one sign are ordered as their bits are.
pub(super) fn next(dialect: &CDialect, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_nextafter_{}", short(dtype));
    prelude.define(&name, |prelude| {
        let bits = dialect.half_bits(&Code::primary("a"), dtype, prelude).text;
        let value = dialect.half_value(&Code::primary("bits"), dtype, prelude).text;
        let least = dialect.half_value(&Code::primary("1"), dtype, prelude).text;
        format!(
            "static inline float {name}(float a, float b) {{\n    if (a != a || b != b) return a + b;\n    \
             if (a == b) return b;\n    if (a == 0) return __builtin_copysignf({least}, b);\n    \
             uint16_t bits = {bits};\n    bits += (a < b) == (a > 0) ? 1 : -1;\n    return {value};\n}}\n"
        )
    });
    Code::call(&name, &[a.clone(), b.clone()])
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
