//! float16 and bfloat16: 16 bits in memory, computed in float.

use chipdock_codegen_source::{Answer, Code, Precedence, Prelude};
use chipdock_ir::{DType, TypeCode};

use super::types::scalar;

fn is_bfloat(dtype: DType) -> bool {
    matches!(dtype.code, TypeCode::BFloat)
}

fn one(name: &str, value: &Code) -> Code {
    Code::call(name, std::slice::from_ref(value))
}

/// The value of 16 bits.
pub(super) fn value(bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    define(dtype, prelude);
    one(if is_bfloat(dtype) { "cd_bf16_value" } else { "cd_f16_value" }, bits)
}

/// The 16 bits of a float, rounded to nearest even.
pub(super) fn bits(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    define(dtype, prelude);
    one(if is_bfloat(dtype) { "cd_bf16_bits" } else { "cd_f16_bits" }, &unrounded(value, dtype))
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

/// A float rounded to nearest even into the type.
pub(super) fn round(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    define(dtype, prelude);
    let short = if is_bfloat(dtype) { "bf16" } else { "f16" };
    let name = format!("cd_round_{short}");
    prelude.define(&name, |_| {
        format!(
            "static inline float {name}(float x) {{\n    return cd_{short}_value(cd_{short}_bits(x));\n}}\n"
        )
    });
    one(&name, value)
}

/// A conversion to a half, rounded once.
pub(super) fn from(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from.is_bool() {
        return Ok(Code::prefix("(float)", value));
    }
    let is_exact = from.is_float() && from.bits <= 32 || from.is_integer() && from.bits <= 16;
    if is_exact {
        let value = if from.is_integer() { Code::prefix("(float)", value) } else { value.clone() };
        return Ok(round(&value, to, prelude));
    }
    // A float that holds the value with its last bit set where it does not fit: rounding that once more is right.
    let (name, from_type) = (format!("cd_odd_from_{from}"), scalar(from)?);
    prelude.define(&name, |_| {
        let is_other = match from.is_float() {
            true => "(double)f != x && x == x".to_owned(),
            // Rounded towards zero it is within the integer's range.
            false => format!("({from_type})f != x"),
        };
        format!(
            "static inline float {name}({from_type} x) {{\n    float f = convert_float_rtz(x);\n    \
             return {is_other} ? as_float(as_uint(f) | 1u) : f;\n}}\n"
        )
    });
    Ok(round(&one(&name, value), to, prelude))
}

fn define(dtype: DType, prelude: &mut Prelude) {
    if is_bfloat(dtype) {
        prelude.define("cd_bf16_bits", |_| BFLOAT16.to_owned());
    } else {
        prelude.define("cd_f16_bits", |prelude| {
            super::define_alias(prelude);
            FLOAT16.to_owned()
        });
    }
}

/// Device code has no type half of its own without `cl_khr_fp16`, but memory may hold them.
const FLOAT16: &str = "\
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
";

const BFLOAT16: &str = "\
static inline float cd_bf16_value(ushort bits) {
    return as_float((uint)bits << 16);
}
static inline ushort cd_bf16_bits(float x) {
    uint bits = as_uint(x);
    return (ushort)(x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : bits >> 16 | 64u);
}
";
