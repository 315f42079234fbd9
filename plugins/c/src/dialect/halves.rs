//! float16 through the compiler's own type where it is fast, and vectors of halves in arithmetic of
//! vectors.

use chipdock_codegen_source::c_family::{Half, is_half, short};
use chipdock_codegen_source::{Answer, Code, Prelude};
use chipdock_ir::{DType, TypeCode};

use super::{CDialect, HELPER, vectors};

/// Defines both helpers of float16 at once: with the compiler's own half type, or with integers
/// where there is none, and for gcc on x86, which converts one lane at a time, also where the
/// processor computes in halves.
pub(super) fn define(dialect: &CDialect, half: Half, prelude: &mut Prelude) {
    if !matches!(half, Half::F16Value | Half::F16Bits) {
        return half.define(dialect, prelude);
    }
    prelude.define("cd_f16", |_| FLOAT16.to_owned());
}

/// Returns true if vectors of a type are converted as a whole: compilers convert one lane at a time
/// in a loop over an array.
pub(super) fn is_converted_as_vector(dtype: DType) -> bool {
    is_half(dtype) && (4..=64).contains(&dtype.lanes) && dtype.lanes.is_power_of_two()
}

/// The name of the helper that converts vectors of bits to values, or values to bits.
pub(super) fn vector_helper(dtype: DType, to_bits: bool, prelude: &mut Prelude) -> Answer<String> {
    let of = |scalar: DType| scalar.with_lanes(dtype.lanes);
    let [half, word, signed, float] = [DType::UINT16, DType::UINT32, DType::INT32, DType::FLOAT32]
        .map(|scalar| vectors::vector_type(of(scalar), prelude));
    let types = Types { half: half?, word: word?, signed: signed?, float: float? };
    let is_brain = dtype.code == TypeCode::BFloat;
    let name =
        format!("cd_{}x{}_{}", short(dtype.scalar()), dtype.lanes, if to_bits { "bits" } else { "value" });
    let wide =
        vectors::converted(&Code::primary("bits"), of(DType::UINT16), of(DType::UINT32), prelude)?.text;
    let narrow =
        vectors::converted(&Code::primary("half"), of(DType::UINT32), of(DType::UINT16), prelude)?.text;
    prelude.define(&name, |_| match (to_bits, is_brain) {
        (false, true) => types.brain_value(&name, &wide),
        (true, true) => types.brain_bits(&name, &narrow),
        (false, false) => types.value(&name, &wide, dtype.lanes),
        (true, false) => types.bits(&name, &narrow, dtype.lanes),
    });
    Ok(name)
}

/// Names of the vector types of a conversion.
struct Types {
    half: String,
    word: String,
    signed: String,
    float: String,
}

impl Types {
    fn brain_value(&self, name: &str, wide: &str) -> String {
        let Self { half, word, float, .. } = self;
        format!("{HELPER} {float} {name}({half} bits) {{\n    return ({float})(({word}){wide} << 16);\n}}\n")
    }

    fn brain_bits(&self, name: &str, narrow: &str) -> String {
        let Self { half: result, word, float, .. } = self;
        format!(
            "{HELPER} {result} {name}({float} x) {{\n    {word} bits = ({word})x, number = ({word})(x == x);\n    \
             {word} half = (number & ((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)) | (~number & (bits >> 16 | 64u));\n    \
             return ({result}){narrow};\n}}\n"
        )
    }

    /// As [`FLOAT16`], without branches; all comparisons are of integers below 2 to the 31, which
    /// are signed ones.
    fn value(&self, name: &str, wide: &str, lanes: u16) -> String {
        let Self { half, word, signed, float } = self;
        let own = format!(
            "    {float} x;\n    __asm__(\"vcvtph2ps %1, %0\" : \"=v\"(x) : \"v\"(bits));\n    return x;\n"
        );
        let arithmetic = format!(
            "    {word} wide = ({word}){wide};\n    \
             {word} rest = (wide & 0x7fffu) << 13, sign = (wide & 0x8000u) << 16;\n    \
             {word} normal = rest + 0x38000000u + (({word})(({signed})rest >= 0x0f800000) & 0x38000000u);\n    \
             {word} small = ({word})(({float})(rest + 0x38800000u) - 6.103515625e-05f);\n    \
             {word} low = ({word})(({signed})rest < 0x00800000);\n    \
             return ({float})((low & small) | (~low & normal) | sign);\n"
        );
        format!("{HELPER} {float} {name}({half} bits) {{\n{}}}\n", by_instruction(lanes, &own, arithmetic))
    }

    fn bits(&self, name: &str, narrow: &str, lanes: u16) -> String {
        let Self { half: result, word, signed, float } = self;
        let own = format!(
            "    {result} bits;\n    __asm__(\"vcvtps2ph $0, %1, %0\" : \"=v\"(bits) : \"v\"(x));\n    return bits;\n"
        );
        let arithmetic = format!(
            "    {word} all = ({word})x, rest = all & 0x7fffffffu;\n    \
             {word} sign = all >> 16 & 0x8000u, inside = ({word})(({signed})rest < 0x47800000);\n    \
             {word} bounded = (inside & rest) | (~inside & 0x47800000u);\n    \
             {word} normal = (bounded + 0xfffu + (bounded >> 13 & 1u) - 0x38000000u) >> 13;\n    \
             {word} small = ({word})(({float})bounded + 0.5f) - 0x3f000000u;\n    \
             {word} low = ({word})(({signed})rest < 0x38800000), nan = ({word})(({signed})rest > 0x7f800000);\n    \
             {word} half = sign | (nan & 0x7e00u) | (~nan & ((low & small) | (~low & normal)));\n    \
             return ({result}){narrow};\n"
        );
        format!("{HELPER} {result} {name}({float} x) {{\n{}}}\n", by_instruction(lanes, &own, arithmetic))
    }
}

/// The body of a conversion: by the instruction of x86 where it has one for so many lanes and the
/// compiler may use it.
fn by_instruction(lanes: u16, own: &str, arithmetic: String) -> String {
    match instruction(lanes) {
        Some(condition) => format!("#if {condition}\n{own}#else\n{arithmetic}#endif\n"),
        None => arithmetic,
    }
}

/// The condition under which x86 converts so many lanes by one instruction.
fn instruction(lanes: u16) -> Option<&'static str> {
    match lanes {
        8 => Some("defined(__F16C__) && !defined(CHIPDOCK_SOFT_FLOAT16)"),
        16 => Some("defined(__AVX512F__) && !defined(CHIPDOCK_SOFT_FLOAT16)"),
        _ => None,
    }
}

/// The integers have no branches, so that loops of them become vectors.
const FLOAT16: &str = "\
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
";
