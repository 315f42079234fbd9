//! float16 and bfloat16: 16 bits in memory, computed in float. Instructions of PTX in place of `cuda_fp16.h`.

use chipdock_codegen_source::{Code, Precedence, Prelude};
use chipdock_ir::{DType, TypeCode};

use super::types::HELPER;

fn is_bfloat(dtype: DType) -> bool {
    matches!(dtype.code, TypeCode::BFloat)
}

fn one(name: &str, value: &Code) -> Code {
    Code::call(name, std::slice::from_ref(value))
}

fn define(name: &'static str, prelude: &mut Prelude) {
    prelude.define(name, |_| {
        let text = match name {
            "cd_f16_value" => F16_VALUE,
            "cd_f16_bits" => F16_BITS,
            "cd_bf16_value" => BF16_VALUE,
            _ => BF16_BITS,
        };
        format!("{HELPER} {text}")
    });
}

/// The value of 16 bits.
pub(super) fn value(bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = if is_bfloat(dtype) { "cd_bf16_value" } else { "cd_f16_value" };
    define(name, prelude);
    one(name, bits)
}

/// The 16 bits of a float, rounded to nearest even.
pub(super) fn bits(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let value = unrounded(value, dtype);
    let name = if is_bfloat(dtype) { "cd_bf16_bits" } else { "cd_f16_bits" };
    define(name, prelude);
    one(name, &value)
}

/// A float rounded to nearest even into the type.
pub(super) fn round(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let (name, to_value, to_bits) = if is_bfloat(dtype) {
        ("cd_round_bf16", "cd_bf16_value", "cd_bf16_bits")
    } else {
        ("cd_round_f16", "cd_f16_value", "cd_f16_bits")
    };
    prelude.define(name, |prelude| {
        define(to_value, prelude);
        define(to_bits, prelude);
        format!("{HELPER} float {name}(float x) {{\n    return {to_value}({to_bits}(x));\n}}\n")
    });
    one(name, value)
}

/// A double as a float, rounded to odd: rounding the result again to fewer bits rounds the double once.
pub(super) fn odd(value: &Code, prelude: &mut Prelude) -> Code {
    prelude.define("cd_odd_f32", |_| format!("{HELPER} {ODD_F32}"));
    one("cd_odd_f32", value)
}

/// A 64-bit integer as a double, rounded to odd.
pub(super) fn wide_integer(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let (name, c_type) = if dtype.is_int() {
        ("cd_odd_f64_of_i64", "long long")
    } else {
        ("cd_odd_f64_of_u64", "unsigned long long")
    };
    prelude.define(name, |_| {
        let exact = if dtype.is_int() { "x >= -(1LL << 53) && x <= 1LL << 53" } else { "x <= 1ULL << 53" };
        format!(
            "{HELPER} double {name}({c_type} x) {{\n    \
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

const F16_VALUE: &str = "\
float cd_f16_value(unsigned short bits) {
    float x;
    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));
    return x;
}
";

const F16_BITS: &str = "\
unsigned short cd_f16_bits(float x) {
    unsigned short bits;
    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));
    return bits;
}
";

const BF16_VALUE: &str = "\
float cd_bf16_value(unsigned short bits) {
    return __int_as_float((int)((unsigned int)bits << 16));
}
";

/// In integers: the instruction for it is younger than the oldest architecture.
const BF16_BITS: &str = "\
unsigned short cd_bf16_bits(float x) {
    unsigned int bits = (unsigned int)__float_as_int(x);
    unsigned int rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (unsigned short)(x == x ? rounded : bits >> 16 | 64);
}
";

const ODD_F32: &str = "\
float cd_odd_f32(double x) {
    float f = (float)x;
    if (x == x && (double)f != x) {
        unsigned int bits = (unsigned int)__float_as_int(f);
        bits -= fabs((double)f) > fabs(x);
        bits |= 1;
        f = __int_as_float((int)bits);
    }
    return f;
}
";
