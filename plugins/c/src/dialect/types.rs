//! Types, literals, conversions: what C calls the values of the IR.
//!
//! A value of float16 or bfloat16 is held in a `float` that holds nothing but values of that type: it is rounded after
//! each operation, and has 16 bits in memory alone. A boolean is a `bool`, and one byte in memory; in vectors it is an
//! 8-bit lane of 0 or -1.

use chipdock_codegen_source::{Answer, Code, Infix, Precedence, Prelude, Refusal};
use chipdock_ir::{DType, PointerType, StorageRank, StorageScope, TypeCode};

use super::halves;

/// The C type of a scalar value.
pub(super) fn scalar(dtype: DType) -> Answer<&'static str> {
    Ok(match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => "bool",
        (TypeCode::Float | TypeCode::BFloat, 16) | (TypeCode::Float, 32) => "float",
        (TypeCode::Float, 64) => "double",
        (TypeCode::Handle, _) => "void*",
        _ => memory(dtype)?,
    })
}

/// The C type of an element in memory.
pub(super) fn memory(dtype: DType) -> Answer<&'static str> {
    Ok(match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) | (TypeCode::UInt, 8) => "uint8_t",
        (TypeCode::UInt, 16) | (TypeCode::Float | TypeCode::BFloat, 16) => "uint16_t",
        (TypeCode::UInt, 32) => "uint32_t",
        (TypeCode::UInt, 64) => "uint64_t",
        (TypeCode::Int, 8) => "int8_t",
        (TypeCode::Int, 16) => "int16_t",
        (TypeCode::Int, 32) => "int32_t",
        (TypeCode::Int, 64) => "int64_t",
        (TypeCode::Float, 32) => "float",
        (TypeCode::Float, 64) => "double",
        (TypeCode::Handle, _) => "void*",
        _ => return Err(Refusal::new(format!("has no type {dtype}"))),
    })
}

/// What values of a type are called in names of helpers.
pub(super) fn short(dtype: DType) -> &'static str {
    match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => "bool",
        (TypeCode::Int, 8) => "i8",
        (TypeCode::Int, 16) => "i16",
        (TypeCode::Int, 32) => "i32",
        (TypeCode::Int, _) => "i64",
        (TypeCode::UInt, 8) => "u8",
        (TypeCode::UInt, 16) => "u16",
        (TypeCode::UInt, 32) => "u32",
        (TypeCode::UInt, _) => "u64",
        (TypeCode::Float, 64) => "f64",
        (TypeCode::Float, 16) => "f16",
        (TypeCode::BFloat, _) => "bf16",
        (TypeCode::Float, _) => "f32",
        // Lowered before code generation.
        (TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2, _) => "f8",
        (TypeCode::Handle, _) => "ptr",
    }
}

/// The type of a value in which C computes: float32 for halves.
pub(super) fn computed(dtype: DType) -> DType {
    if dtype.is_float() && dtype.bits == 16 { DType::FLOAT32.with_lanes(dtype.lanes) } else { dtype }
}

pub(super) fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

/// Refuses scopes that host memory does not have.
pub(super) fn check_scope(scope: &StorageScope) -> Answer<()> {
    let is_host = matches!(scope.rank, StorageRank::Global | StorageRank::Local) && scope.tag.is_empty();
    if is_host {
        return Ok(());
    }
    Err(Refusal::new(format!("has no storage scope {scope}; expected global or local")))
}

pub(super) fn pointer(pointer: Option<&PointerType>) -> Answer<String> {
    match pointer {
        None => Ok("void*".to_owned()),
        Some(pointer) => {
            check_scope(&pointer.scope)?;
            Ok(format!("{}*", memory(pointer.element)?))
        }
    }
}

pub(super) fn integer(value: i128, dtype: DType) -> Answer<Code> {
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => if value == 0 { "false" } else { "true" }.to_owned(),
        (TypeCode::Handle, _) if value == 0 => "NULL".to_owned(),
        (TypeCode::Int, 64) if value == i64::MIN.into() => "INT64_MIN".to_owned(),
        (TypeCode::Int, 32) if value == i32::MIN.into() => "INT32_MIN".to_owned(),
        (TypeCode::Int, 64) => format!("{value}LL"),
        (TypeCode::Int, _) | (TypeCode::UInt, 8 | 16) => value.to_string(),
        (TypeCode::UInt, 32) => format!("{value}u"),
        (TypeCode::UInt, _) => format!("{value}ULL"),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A float constant: the shortest decimal that reads back as the same value.
pub(super) fn float(value: f64, dtype: DType) -> Answer<Code> {
    let is_double = dtype == DType::FLOAT64;
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    let text = if value.is_nan() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        format!("{sign}__builtin_nan{}(\"\")", if is_double { "" } else { "f" })
    } else if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}__builtin_inf{}()", if is_double { "" } else { "f" })
    } else if is_double {
        format!("{value:?}")
    } else {
        format!("{:?}f", value as f32)
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A scalar conversion.
pub(super) fn cast(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from == to {
        return Ok(value.clone());
    }
    let plain = || Ok(Code::prefix(&format!("({})", scalar(to)?), value));
    if to.is_handle() || from.is_handle() {
        return match (from.is_handle(), to.is_handle()) {
            (true, true) => Ok(value.clone()),
            (true, false) if to.is_bool() => Ok(Code::infix(Infix::NotEqual, value, &Code::primary("NULL"))),
            (true, false) if to.is_integer() => {
                Ok(Code::prefix(&format!("({})", scalar(to)?), &Code::prefix("(uintptr_t)", value)))
            }
            (false, true) if from.is_integer() => {
                Ok(Code::prefix("(void*)", &Code::prefix("(uintptr_t)", value)))
            }
            _ => Err(Refusal::new(format!("has no conversion from {from} to {to}"))),
        };
    }
    if to.is_bool() {
        let zero = if from.is_float() { float(0.0, from)? } else { integer(0, from)? };
        return Ok(Code::infix(Infix::NotEqual, value, &zero));
    }
    if is_half(to) {
        return half_from(value, from, to, prelude);
    }
    if from.is_float() && to.is_integer() {
        return Ok(saturate(value, computed(from), to, prelude));
    }
    if scalar(from)? == scalar(to)? {
        return Ok(value.clone());
    }
    plain()
}

/// A conversion to a half, rounded once.
fn half_from(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from.is_bool() {
        return Ok(Code::prefix("(float)", value));
    }
    if from.is_float() && from.bits <= 32 {
        return Ok(halves::round(value, to, prelude));
    }
    let double = if from == DType::FLOAT64 {
        value.clone()
    } else if from.bits == 64 {
        halves::wide_integer(value, from, prelude)
    } else {
        Code::prefix("(double)", value)
    };
    // A float holds the double with its last bit set where it does not fit: rounding that once more is right.
    let odd = halves::odd(&double, prelude);
    Ok(halves::round(&odd, to, prelude))
}

/// Float to integer: truncated, saturated, 0 for a NaN. C leaves all but the first undefined.
fn saturate(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_{}_from_{}", short(to), short(from));
    prelude.define(&name, |_| {
        let (low, high) = to.integer_range().unwrap_or((0, 0));
        let (float_type, suffix) = if from == DType::FLOAT64 { ("double", "") } else { ("float", "f") };
        let int_type = scalar(to).unwrap_or("int64_t");
        // `high + 1` and `low` are powers of two (or 0), exact in every float type; float16's range is within int32's.
        let above = format!("{:?}{suffix}", (high + 1) as f64);
        let below = format!("{:?}{suffix}", low as f64);
        let limits = integer(low, to).and_then(|low| Ok((low.text, integer(high, to)?.text)));
        let (low, high) = limits.unwrap_or_default();
        format!(
            "static inline {int_type} {name}({float_type} x) {{\n    \
                 if (x >= {above}) return {high};\n    \
                 if (x > {below}) return ({int_type})x;\n    \
                 return x != x ? 0 : {low};\n}}\n"
        )
    });
    Code::call(&name, std::slice::from_ref(value))
}

/// The bits of a scalar as another type of equal size.
pub(super) fn reinterpret(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from == to {
        return Ok(value.clone());
    }
    if from.is_handle() || to.is_handle() || (from.is_integer() && to.is_integer()) {
        return cast(value, from, to, prelude);
    }
    let from_bits = if is_half(from) { halves::bits(value, from, prelude) } else { value.clone() };
    let from_type = if is_half(from) { "uint16_t" } else { memory(from)? };
    let to_type = memory(to)?;
    let copied = if from_type == to_type || (from_type, to_type) == ("int16_t", "uint16_t") {
        from_bits
    } else {
        let name = format!("cd_{}_bits_of_{}", short(to), short(from));
        prelude.define(&name, |_| {
            format!(
                "static inline {to_type} {name}({from_type} x) {{\n    {to_type} y;\n    \
                 __builtin_memcpy(&y, &x, sizeof(y));\n    return y;\n}}\n"
            )
        });
        Code::call(&name, &[from_bits])
    };
    Ok(if is_half(to) { halves::value(&copied, to, prelude) } else { copied })
}
