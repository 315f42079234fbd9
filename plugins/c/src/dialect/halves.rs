//! float16 and bfloat16: 16 bits in memory, computed in float.

use chipdock_codegen_source::{Code, Precedence, Prelude};
use chipdock_ir::{DType, TypeCode};

fn is_bfloat(dtype: DType) -> bool {
    matches!(dtype.code, TypeCode::BFloat)
}

fn one(name: &str, value: &Code) -> Code {
    Code::call(name, std::slice::from_ref(value))
}

/// The value of 16 bits.
pub(super) fn value(bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_bfloat(dtype) {
        prelude.define("cd_bf16_value", |_| BF16_VALUE.to_owned());
        return one("cd_bf16_value", bits);
    }
    define_float16(prelude);
    one("cd_f16_value", bits)
}

/// The 16 bits of a float, rounded to nearest even.
pub(super) fn bits(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let value = unrounded(value, dtype);
    let value = &value;
    if is_bfloat(dtype) {
        prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
        return one("cd_bf16_bits", value);
    }
    define_float16(prelude);
    one("cd_f16_bits", value)
}

/// A float rounded to nearest even into the type.
pub(super) fn round(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_bfloat(dtype) {
        prelude.define("cd_round_bf16", |prelude| {
            prelude.define("cd_bf16_value", |_| BF16_VALUE.to_owned());
            prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
            "static inline float cd_round_bf16(float x) {\n    return cd_bf16_value(cd_bf16_bits(x));\n}\n"
                .to_owned()
        });
        return one("cd_round_bf16", value);
    }
    prelude.define("cd_round_f16", |prelude| {
        define_float16(prelude);
        "static inline float cd_round_f16(float x) {\n    return cd_f16_value(cd_f16_bits(x));\n}\n"
            .to_owned()
    });
    one("cd_round_f16", value)
}

/// A double as a float, rounded to odd: rounding the result again to fewer bits rounds the double once.
pub(super) fn odd(value: &Code, prelude: &mut Prelude) -> Code {
    prelude.define("cd_odd_f32", |_| ODD_F32.to_owned());
    one("cd_odd_f32", value)
}

/// A 64-bit integer as a double, rounded to odd.
pub(super) fn wide_integer(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let (name, c_type) =
        if dtype.is_int() { ("cd_odd_f64_of_i64", "int64_t") } else { ("cd_odd_f64_of_u64", "uint64_t") };
    prelude.define(name, |_| {
        let exact = if dtype.is_int() { "x >= -(1LL << 53) && x <= 1LL << 53" } else { "x <= 1ULL << 53" };
        format!(
            "static inline double {name}({c_type} x) {{\n    \
                 // Past 53 bits the low 11 cannot all be kept: bit 11 remembers whether any was set.\n    \
                 {c_type} low = x & 2047;\n    \
                 if (({exact}) || low == 0) return (double)x;\n    \
                 return (double)((x - low) | 2048);\n}}\n"
        )
    });
    one(name, value)
}

/// The argument of a call that rounds, where the value is one: taking its bits rounds again.
fn unrounded(value: &Code, dtype: DType) -> Code {
    let round = if is_bfloat(dtype) { "cd_round_bf16(" } else { "cd_round_f16(" };
    let inner = value.text.strip_prefix(round).and_then(|rest| rest.strip_suffix(')'));
    let is_whole = |inner: &&str| {
        let mut depth = 0_i32;
        inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    };
    match inner.filter(is_whole) {
        Some(inner) => Code::new(inner, Precedence::Conditional),
        None => value.clone(),
    }
}

fn define_float16(prelude: &mut Prelude) {
    prelude.define("cd_f16", |_| FLOAT16.to_owned());
}

pub(crate) const ODD_F32: &str = "\
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
";

pub(crate) const BF16_VALUE: &str = "\
static inline float cd_bf16_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    __builtin_memcpy(&x, &wide, sizeof(x));
    return x;
}
";

pub(crate) const BF16_BITS: &str = "\
static inline uint16_t cd_bf16_bits(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(x == x ? rounded : bits >> 16 | 64);
}
";

/// The compiler's own half where it has one, else the same in integers.
pub(crate) const FLOAT16: &str = "\
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
";
