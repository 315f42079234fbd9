//! Types, constants and conversions of scalars.
//!
//! WGSL has bool, i32, u32 and f32 (f16 by an option, only in memory). Narrower integers are
//! computed in 32 bits and cut to their width after each operation; float16 and bfloat16 are
//! represented by f32, which has all of their values.

use chipdock_codegen_source::{Answer, Code, Infix, Precedence, Prelude, Refusal, decimal};
use chipdock_ir::{DType, TypeCode};

pub(super) use chipdock_codegen_source::c_family::{is_half, short};

use super::{comparisons, halves};

/// The type of a scalar in variables and expressions.
pub(super) fn scalar(dtype: DType) -> Answer<&'static str> {
    match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => Ok("bool"),
        (TypeCode::Int, 8 | 16 | 32) => Ok("i32"),
        (TypeCode::UInt, 8 | 16 | 32) => Ok("u32"),
        (TypeCode::Float, 16 | 32) | (TypeCode::BFloat, _) => Ok("f32"),
        (TypeCode::Handle, _) => {
            Err(Refusal::new("has no pointers that are values; index the buffer itself"))
        }
        (TypeCode::Float, _) => {
            Err(Refusal::new(format!("has no {}: WGSL has no 64-bit floats; use float32", dtype.scalar())))
        }
        _ => Err(Refusal::new(format!(
            "has no {}: WGSL has no 64-bit integers; lower them to words first",
            dtype.scalar()
        ))),
    }
}

/// The type of a value with a number of lanes that WGSL supports.
pub(super) fn value_type(dtype: DType) -> Answer<String> {
    let scalar = scalar(dtype)?;
    match dtype.lanes {
        1 => Ok(scalar.to_owned()),
        lanes @ 2..=4 => Ok(format!("vec{lanes}<{scalar}>")),
        lanes => Err(Refusal::new(format!("has no vectors of {lanes} lanes ({dtype}); it has 2, 3 and 4"))),
    }
}

/// Returns true for an integer type that is narrower than the type in which it is computed.
pub(super) fn is_narrow(dtype: DType) -> bool {
    dtype.is_integer() && dtype.bits < 32
}

pub(super) fn one(name: &str, value: &Code) -> Code {
    Code::primary(format!("{name}({})", value.text))
}

/// A call with several arguments. Comparisons are bracketed: `f(a < b, c > d)` would be parsed as a
/// template.
pub(super) fn call(name: &str, args: &[Code]) -> Code {
    let args: Vec<String> = args.iter().map(|arg| arg.at_least(Precedence::Shift)).collect();
    Code::primary(format!("{name}({})", args.join(", ")))
}

pub(super) fn integer(value: i128, dtype: DType) -> Answer<Code> {
    scalar(dtype)?;
    let text = match dtype.code {
        TypeCode::Bool => if value == 0 { "false" } else { "true" }.to_owned(),
        TypeCode::Int if value == i32::MIN.into() => format!("i32({value})"),
        TypeCode::Int => value.to_string(),
        TypeCode::UInt => format!("{value}u"),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A float constant: the shortest decimal that every reader takes for the same value. WGSL has no
/// constants for NaN and infinities, and lets a compiler drop the sign of a zero and take a
/// subnormal number for zero: their bits go through a function.
pub(super) fn float(value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    scalar(dtype)?;
    let value = value as f32;
    if !(value.is_normal() || value.to_bits() == 0) {
        prelude.define("cd_f32", |_| {
            "fn cd_f32(bits: u32) -> f32 {\n    return bitcast<f32>(bits);\n}\n".to_owned()
        });
        return Ok(Code::primary(format!("cd_f32({:#x}u)", value.to_bits())));
    }
    let text = decimal(value.into(), DType::FLOAT32) + "f";
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// Cuts an integer in 32 bits to the width of its type.
pub(super) fn cut(value: Code, dtype: DType) -> Code {
    if !is_narrow(dtype) {
        return value;
    }
    if dtype.is_int() {
        return Code::primary(format!("extractBits({}, 0u, {}u)", value.text, dtype.bits));
    }
    let mask = if dtype.bits == 8 { "0xffu" } else { "0xffffu" };
    Code::infix(Infix::BitAnd, &value, &Code::primary(mask))
}

/// Converts the bits of an integer to another integer type, modulo its width.
pub(super) fn cast_bits(value: &Code, to: DType) -> Answer<Code> {
    if !to.is_integer() {
        return Err(Refusal::new(format!("has no bits of an integer as {to}")));
    }
    let target = if to.is_int() { "i32" } else { "u32" };
    Ok(cut(one(&format!("bitcast<{target}>"), value), to))
}

/// A scalar conversion.
pub(super) fn cast(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let (from_type, to_type) = (scalar(from)?, scalar(to)?);
    if from == to {
        return Ok(value.clone());
    }
    if to.is_bool() {
        if from.is_float() {
            return Ok(comparisons::is_not_zero(value, prelude));
        }
        return Ok(Code::infix(Infix::NotEqual, value, &integer(0, from)?));
    }
    if from.is_bool() {
        return Ok(one(to_type, value));
    }
    if from.is_integer() && to.is_integer() {
        let bits =
            if from_type == to_type { value.clone() } else { one(&format!("bitcast<{to_type}>"), value) };
        return Ok(if chipdock_ir::analysis::holds(to, from) { bits } else { cut(bits, to) });
    }
    if from.is_float() && to.is_integer() {
        return Ok(saturate(value, to, prelude));
    }
    if from.is_integer() {
        let is_exact = !is_half(to) || from.bits < 32;
        let float = if is_exact { one("f32", value) } else { halves::odd(value, from, prelude) };
        return Ok(if is_half(to) { halves::round(&float, to, prelude) } else { float });
    }
    Ok(if is_half(to) { halves::round(value, to, prelude) } else { value.clone() })
}

/// Converts a float to an integer: truncated, saturated, 0 for a NaN. A NaN is detected by its
/// bits, since compilers may assume that there is none.
fn saturate(value: &Code, to: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_{}_of_float", short(to));
    prelude.define(&name, |_| {
        let (low, high) = to.integer_range().unwrap_or((0, 0));
        let target = if to.is_int() { "i32" } else { "u32" };
        let limit = |value: i128| integer(value, to).map(|code| code.text).unwrap_or_default();
        // `high + 1` and `low` are powers of two (or 0), exact in f32.
        let (above, below) = ((high + 1) as f32, low as f32);
        format!(
            "fn {name}(x: f32) -> {target} {{\n    \
                 if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {{\n        return {target}(0);\n    }}\n    \
                 if (x >= {above:?}f) {{\n        return {};\n    }}\n    \
                 if (x <= {below:?}f) {{\n        return {};\n    }}\n    \
                 return {target}(x);\n}}\n",
            limit(high),
            limit(low)
        )
    });
    one(&name, value)
}

/// Reinterprets the bits of a scalar as another type of equal size.
pub(super) fn reinterpret(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let (from_type, to_type) = (scalar(from)?, scalar(to)?);
    if from == to {
        return Ok(value.clone());
    }
    if from.bits != to.bits {
        return Err(Refusal::new(format!("has no {from} read as {to}: their sizes differ")));
    }
    if from.is_bool() || to.is_bool() || (from.is_integer() && to.is_integer()) {
        return cast(value, from, to, prelude);
    }
    if from.bits == 32 {
        return Ok(one(&format!("bitcast<{to_type}>"), value));
    }
    let bits = if is_half(from) { halves::bits(value, from, prelude) } else { one("u32", value) };
    if is_half(to) {
        return Ok(halves::value(&bits, to, prelude));
    }
    let _ = from_type;
    cast(&bits, DType::UINT16, to, prelude)
}
