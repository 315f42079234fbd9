//! float16 and bfloat16: represented by f32, 16 bits in memory. Conversions are computed in
//! integers, so that rounding is to nearest even on every device, whatever WGSL leaves open.

use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::{DType, TypeCode};

use super::types::{one, short};

fn is_bfloat(dtype: DType) -> bool {
    matches!(dtype.code, TypeCode::BFloat)
}

/// Converts 16 bits in a u32 to a value.
pub(super) fn value(bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_bfloat(dtype) {
        prelude.define("cd_bf16_value", |_| BF16_VALUE.to_owned());
        return one("cd_bf16_value", bits);
    }
    prelude.define("cd_f16_value", |_| F16_VALUE.to_owned());
    one("cd_f16_value", bits)
}

/// Converts a float to 16 bits in a u32, rounded to nearest even.
pub(super) fn bits(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_bfloat(dtype) {
        prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
        return one("cd_bf16_bits", value);
    }
    prelude.define("cd_f16_bits", |_| F16_BITS.to_owned());
    one("cd_f16_bits", value)
}

/// A float rounded to nearest even into the type.
pub(super) fn round(x: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_round_{}", short(dtype));
    prelude.define(&name, |prelude| {
        let rounded = bits(&Code::primary("x"), dtype, prelude);
        let rounded = value(&rounded, dtype, prelude).text;
        format!("fn {name}(x: f32) -> f32 {{\n    return {rounded};\n}}\n")
    });
    one(&name, x)
}

/// Converts a 32-bit integer to a float that rounds to a half as the integer itself would: bits
/// beyond 24 are folded into the last one.
pub(super) fn odd(value: &Code, from: DType, prelude: &mut Prelude) -> Code {
    let (name, target) = if from.is_int() { ("cd_odd_of_i32", "i32") } else { ("cd_odd_of_u32", "u32") };
    prelude.define(name, |_| {
        let suffix = if from.is_int() { "" } else { "u" };
        let is_exact = if from.is_int() { "x >= -16777216 && x <= 16777216" } else { "x <= 16777216u" };
        format!(
            "fn {name}(x: {target}) -> f32 {{\n    let low = x & 255{suffix};\n    \
             if (low == 0{suffix} || ({is_exact})) {{\n        return f32(x);\n    }}\n    \
             return f32((x - low) | 256{suffix});\n}}\n"
        )
    });
    one(name, value)
}

const BF16_VALUE: &str = "\
fn cd_bf16_value(bits: u32) -> f32 {
    return bitcast<f32>(bits << 16u);
}
";

const BF16_BITS: &str = "\
fn cd_bf16_bits(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (bits >> 16u) | 64u;
    }
    return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
";

const F16_BITS: &str = "\
fn cd_f16_bits(x: f32) -> u32 {
    let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if (bits > 0x7f800000u) {
        return sign | 0x7e00u | ((bits >> 13u) & 0x1ffu);
    }
    if (bits >= 0x477ff000u) {
        return sign | 0x7c00u;
    }
    if (bits < 0x33000000u) {
        return sign;
    }
    if (bits < 0x38800000u) {
        // Below the least normal half: the significand in units of 2^-24, halves to even.
        let significand = (bits & 0x7fffffu) | 0x800000u;
        let shift = 126u - (bits >> 23u);
        let kept = significand >> shift;
        let rest = significand & ((1u << shift) - 1u);
        let half = 1u << (shift - 1u);
        let up = rest > half || (rest == half && (kept & 1u) == 1u);
        return sign | (kept + select(0u, 1u, up));
    }
    let rounded = bits + 0xfffu + ((bits >> 13u) & 1u);
    return sign | ((rounded - 0x38000000u) >> 13u);
}
";

const F16_VALUE: &str = "\
fn cd_f16_value(half: u32) -> f32 {
    let sign = (half & 0x8000u) << 16u;
    let rest = half & 0x7fffu;
    if (rest >= 0x7c00u) {
        return bitcast<f32>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13u));
    }
    if (rest < 0x400u) {
        // The significand in units of 2^-24, which f32 has exactly.
        let magnitude = f32(rest) * 5.9604645e-8f;
        return bitcast<f32>(sign | bitcast<u32>(magnitude));
    }
    return bitcast<f32>(sign | ((rest << 13u) + 0x38000000u));
}
";
