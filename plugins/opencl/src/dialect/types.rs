//! Types, literals, conversions: what OpenCL C calls the values of the IR.
//!
//! A value of float16 or bfloat16 is held in a `float` that holds nothing but values of that type, and has 16 bits (a
//! `ushort`) in memory alone: no arithmetic of halves is ever asked of a device. A boolean is a `bool`, and a `uchar` in
//! memory; in vectors it is an 8-bit lane of 0 or -1.

use chipdock_codegen_source::{Answer, Code, Infix, Precedence, Prelude, Refusal};
use chipdock_ir::{DType, PointerType, StorageRank, StorageScope, TypeCode};

use super::{Features, extension, halves};

/// The type of a scalar value.
pub(super) fn scalar(dtype: DType) -> Answer<&'static str> {
    Ok(match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => "bool",
        (TypeCode::Float | TypeCode::BFloat, 16) => "float",
        _ => memory(dtype)?,
    })
}

/// The type of an element in memory.
pub(super) fn memory(dtype: DType) -> Answer<&'static str> {
    Ok(match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) | (TypeCode::UInt, 8) => "uchar",
        (TypeCode::UInt, 16) | (TypeCode::Float | TypeCode::BFloat, 16) => "ushort",
        (TypeCode::UInt, 32) => "uint",
        (TypeCode::UInt, 64) => "ulong",
        (TypeCode::Int, 8) => "char",
        (TypeCode::Int, 16) => "short",
        (TypeCode::Int, 32) => "int",
        (TypeCode::Int, 64) => "long",
        (TypeCode::Float, 32) => "float",
        (TypeCode::Float, 64) => "double",
        _ => return Err(Refusal::new(format!("has no type {dtype}"))),
    })
}

/// Notes what a type asks of the device; refuses what the target lacks.
pub(super) fn check(dtype: DType, features: &Features, prelude: &mut Prelude) -> Answer<()> {
    if dtype.is_float() && dtype.bits == 64 {
        if !features.has_float64 {
            return Err(Refusal::new(
                "has no float64: its option supports_float64 says that the device lacks it; compute in float32",
            ));
        }
        extension("cl_khr_fp64", prelude);
    }
    Ok(())
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

/// The type of a value in which is computed: float32 for halves.
pub(super) fn computed(dtype: DType) -> DType {
    if is_half(dtype) { DType::FLOAT32.with_lanes(dtype.lanes) } else { dtype }
}

pub(super) fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

/// The unsigned type in which sums of a type wrap, of as many lanes.
pub(super) fn unsigned(dtype: DType) -> DType {
    let scalar = match dtype.bits {
        8 => DType::UINT8,
        16 => DType::UINT16,
        32 => DType::UINT32,
        _ => DType::UINT64,
    };
    scalar.with_lanes(dtype.lanes)
}

/// The address space of a storage scope.
pub(super) fn address_space(scope: &StorageScope) -> Answer<&'static str> {
    let is_plain = scope.tag.is_empty();
    match scope.rank {
        StorageRank::Global if is_plain => Ok("__global"),
        StorageRank::Shared if is_plain || scope.is_dynamic_shared() => Ok("__local"),
        StorageRank::Local if is_plain => Ok("__private"),
        _ => Err(Refusal::new(format!(
            "has no storage scope {scope}; expected global, shared, shared.dyn or local"
        ))),
    }
}

/// A pointer type; what is not typed points to global memory.
pub(super) fn pointer(pointer: Option<&PointerType>, is_const: bool) -> Answer<String> {
    let is_const = if is_const { "const " } else { "" };
    match pointer {
        None => Ok(format!("__global {is_const}void*")),
        Some(pointer) => {
            let space = address_space(&pointer.scope)?;
            Ok(format!("{space} {is_const}{}*", memory(pointer.element)?))
        }
    }
}

pub(super) fn integer(value: i128, dtype: DType) -> Answer<Code> {
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => if value == 0 { "false" } else { "true" }.to_owned(),
        (TypeCode::Handle, _) if value == 0 => "0".to_owned(),
        (TypeCode::Int, 64) if value == i64::MIN.into() => "LONG_MIN".to_owned(),
        (TypeCode::Int, 32) if value == i32::MIN.into() => "INT_MIN".to_owned(),
        (TypeCode::Int, 64) => format!("{value}L"),
        (TypeCode::Int, _) | (TypeCode::UInt, 8 | 16) => value.to_string(),
        (TypeCode::UInt, 32) => format!("{value}u"),
        (TypeCode::UInt, _) => format!("{value}UL"),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A float constant: the shortest decimal that reads back as the same value.
pub(super) fn float(value: f64, dtype: DType) -> Answer<Code> {
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let text = if dtype == DType::FLOAT64 {
        match value {
            _ if value.is_nan() => format!("{sign}as_double(0x7ff8000000000000UL)"),
            _ if value.is_infinite() => format!("{sign}as_double(0x7ff0000000000000UL)"),
            _ => format!("{value:?}"),
        }
    } else {
        match value {
            _ if value.is_nan() => format!("{sign}NAN"),
            _ if value.is_infinite() => format!("{sign}INFINITY"),
            _ => format!("{:?}f", value as f32),
        }
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A scalar conversion.
pub(super) fn cast(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from == to {
        return Ok(value.clone());
    }
    if to.is_handle() || from.is_handle() {
        if from.is_handle() && to.is_bool() {
            return Ok(Code::infix(Infix::NotEqual, value, &Code::primary("0")));
        }
        return Err(Refusal::new(format!("has no conversion from {from} to {to}")));
    }
    if to.is_bool() {
        let zero = if from.is_float() { float(0.0, from)? } else { integer(0, from)? };
        return Ok(Code::infix(Infix::NotEqual, value, &zero));
    }
    if is_half(to) {
        return halves::from(value, from, to, prelude);
    }
    if from.is_float() && to.is_integer() {
        return saturate(value, computed(from), to, prelude);
    }
    if scalar(from)? == scalar(to)? {
        return Ok(value.clone());
    }
    Ok(Code::prefix(&format!("({})", scalar(to)?), value))
}

/// Float to integer: truncated, saturated, 0 for a NaN. A conversion with `_sat` only should give 0 there.
fn saturate(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let name = format!("cd_{}_from_{}", short(to), short(from));
    if !prelude.contains(&name) {
        let (low, high) = to.integer_range().unwrap_or((0, 0));
        let suffix = if from == DType::FLOAT64 { "" } else { "f" };
        let (float_type, int_type) = (scalar(from)?, scalar(to)?);
        // `high + 1` and `low` are powers of two (or 0), exact in every float type.
        let (above, below) =
            (format!("{:?}{suffix}", (high + 1) as f64), format!("{:?}{suffix}", low as f64));
        let (low, high) = (integer(low, to)?.text, integer(high, to)?.text);
        prelude.define(&name, |_| {
            format!(
                "static inline {int_type} {name}({float_type} x) {{\n    \
                     if (x >= {above}) return {high};\n    \
                     if (x > {below}) return ({int_type})x;\n    \
                     return x != x ? 0 : {low};\n}}\n"
            )
        });
    }
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// The bits of a scalar as another type of equal size.
pub(super) fn reinterpret(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from == to {
        return Ok(value.clone());
    }
    if from.is_bool() || to.is_bool() || from.is_handle() || to.is_handle() {
        return cast(value, from, to, prelude);
    }
    if from.is_integer() && to.is_integer() {
        return Ok(Code::prefix(&format!("({})", scalar(to)?), value));
    }
    let bits = if is_half(from) { halves::bits(value, from, prelude) } else { value.clone() };
    let (from_type, to_type) = (memory(from)?, memory(to)?);
    let copied = if from_type == to_type {
        bits
    } else {
        // The type of what is reinterpreted counts, and an expression of narrow integers is an `int`.
        let bits = Code::prefix(&format!("({from_type})"), &bits);
        Code::call(&format!("as_{to_type}"), &[bits])
    };
    Ok(if is_half(to) { halves::value(&copied, to, prelude) } else { copied })
}
