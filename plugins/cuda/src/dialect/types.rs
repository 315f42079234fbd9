//! Types, literals, conversions: what CUDA C calls the values of the IR. No header is needed for any of them.
//!
//! A value of float16 or bfloat16 is held in a `float` that holds nothing but values of that type, and has 16 bits in
//! memory alone. A boolean is a `bool`, and one byte in memory.

use chipdock_codegen_source::{Answer, Code, Infix, Precedence, Prelude, Refusal};
use chipdock_ir::{DType, PointerType, StorageRank, StorageScope, TypeCode};

use super::halves;

/// What every helper begins with.
pub(super) const HELPER: &str = "static __device__ __forceinline__";

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
        (TypeCode::Bool, _) | (TypeCode::UInt, 8) => "unsigned char",
        (TypeCode::UInt, 16) | (TypeCode::Float | TypeCode::BFloat, 16) => "unsigned short",
        (TypeCode::UInt, 32) => "unsigned int",
        (TypeCode::UInt, 64) => "unsigned long long",
        // A plain `char` is unsigned on some machines that a compiler runs on.
        (TypeCode::Int, 8) => "signed char",
        (TypeCode::Int, 16) => "short",
        (TypeCode::Int, 32) => "int",
        (TypeCode::Int, 64) => "long long",
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

/// The type of a value in which it is computed: float32 for halves.
pub(super) fn computed(dtype: DType) -> DType {
    if is_half(dtype) { DType::FLOAT32.with_lanes(dtype.lanes) } else { dtype }
}

pub(super) fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

/// The unsigned type in which sums of a type wrap.
pub(super) fn unsigned(dtype: DType) -> &'static str {
    if dtype.bits > 32 { "unsigned long long" } else { "unsigned int" }
}

/// Where memory of a scope lies, for accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// The device's memory.
    Global,
    /// A block's memory, of constant or of told size.
    Shared,
    /// Registers, if the compiler can.
    Local,
}

/// The space of a scope.
pub(super) fn space(scope: &StorageScope) -> Answer<Space> {
    match (scope.rank, scope.tag.as_str()) {
        (StorageRank::Global, "") => Ok(Space::Global),
        (StorageRank::Shared, "" | ".dyn") => Ok(Space::Shared),
        (StorageRank::Local, "") => Ok(Space::Local),
        _ => Err(Refusal::new(format!(
            "has no storage scope {scope} in the text; expected global, shared, shared.dyn or local"
        ))),
    }
}

pub(super) fn pointer(pointer: Option<&PointerType>) -> Answer<String> {
    match pointer {
        None => Ok("void*".to_owned()),
        Some(pointer) => {
            space(&pointer.scope)?;
            Ok(format!("{}*", memory(pointer.element)?))
        }
    }
}

pub(super) fn integer(value: i128, dtype: DType) -> Answer<Code> {
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => if value == 0 { "false" } else { "true" }.to_owned(),
        (TypeCode::Handle, _) if value == 0 => "nullptr".to_owned(),
        (TypeCode::Int, 64) if value == i64::MIN.into() => "(-9223372036854775807LL - 1)".to_owned(),
        (TypeCode::Int, 32) if value == i32::MIN.into() => "(-2147483647 - 1)".to_owned(),
        (TypeCode::Int, 64) => format!("{value}LL"),
        (TypeCode::Int, _) | (TypeCode::UInt, 8 | 16) => value.to_string(),
        (TypeCode::UInt, 32) => format!("{value}u"),
        (TypeCode::UInt, _) => format!("{value}ULL"),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A float constant: the shortest decimal that reads back as the same value; by its bits where it is no number.
pub(super) fn float(value: f64, dtype: DType) -> Answer<Code> {
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    let is_double = dtype == DType::FLOAT64;
    let text = if !value.is_finite() {
        if is_double {
            format!("__longlong_as_double({:#x}LL)", value.to_bits())
        } else {
            format!("__int_as_float({:#x})", (value as f32).to_bits())
        }
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
    if to.is_handle() || from.is_handle() {
        return cast_pointer(value, from, to);
    }
    if to.is_bool() {
        let zero = if from.is_float() { float(0.0, from)? } else { integer(0, from)? };
        return Ok(Code::infix(Infix::NotEqual, value, &zero));
    }
    if is_half(to) {
        return Ok(half_from(value, from, to, prelude));
    }
    if from.is_float() && to.is_integer() {
        return saturate(value, computed(from), to, prelude);
    }
    if scalar(from)? == scalar(to)? {
        return Ok(value.clone());
    }
    Ok(Code::prefix(&format!("({})", scalar(to)?), value))
}

fn cast_pointer(value: &Code, from: DType, to: DType) -> Answer<Code> {
    match (from.is_handle(), to.is_handle()) {
        (true, true) => Ok(value.clone()),
        (true, false) if to.is_bool() => Ok(Code::infix(Infix::NotEqual, value, &Code::primary("nullptr"))),
        (true, false) if to.is_integer() => {
            Ok(Code::prefix(&format!("({})", scalar(to)?), &Code::prefix("(unsigned long long)", value)))
        }
        (false, true) if from.is_integer() => {
            Ok(Code::prefix("(void*)", &Code::prefix("(unsigned long long)", value)))
        }
        _ => Err(Refusal::new(format!("has no conversion from {from} to {to}"))),
    }
}

/// A conversion to a half, rounded once.
fn half_from(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Code {
    if from.is_bool() {
        return Code::prefix("(float)", value);
    }
    if from.is_float() && from.bits <= 32 {
        return halves::round(value, to, prelude);
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
    halves::round(&odd, to, prelude)
}

/// Float to integer: truncated, saturated, 0 for a NaN. The language leaves all but the first undefined, and the machine's
/// conversion to 64 bits gives something else for a NaN.
fn saturate(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let name = format!("cd_{}_from_{}", short(to), short(from));
    let (low, high) = to.integer_range().unwrap_or((0, 0));
    let (float_type, suffix) = if from == DType::FLOAT64 { ("double", "") } else { ("float", "f") };
    let int_type = scalar(to)?;
    // `high + 1` and `low` are powers of two (or 0), exact in every float type.
    let above = format!("{:?}{suffix}", (high + 1) as f64);
    let below = format!("{:?}{suffix}", low as f64);
    let (low, high) = (integer(low, to)?.text, integer(high, to)?.text);
    prelude.define(&name, |_| {
        format!(
            "{HELPER} {int_type} {name}({float_type} x) {{\n    \
                 if (x >= {above}) return {high};\n    \
                 if (x > {below}) return ({int_type})x;\n    \
                 return x != x ? 0 : {low};\n}}\n"
        )
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// The bits of a scalar as another type of equal size.
pub(super) fn reinterpret(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    if from == to {
        return Ok(value.clone());
    }
    if from.is_handle() || to.is_handle() || (from.is_integer() && to.is_integer()) {
        return cast(value, from, to, prelude);
    }
    if from.bits != to.bits {
        return Err(Refusal::new(format!("cannot read the bits of {from} as {to}")));
    }
    // Into bits of the width, and out of them.
    let bits = match (from.is_float(), from.bits) {
        (true, 16) => halves::bits(value, from, prelude),
        (true, 32) => Code::call("__float_as_int", std::slice::from_ref(value)),
        (true, 64) => Code::call("__double_as_longlong", std::slice::from_ref(value)),
        _ => value.clone(),
    };
    Ok(match (to.is_float(), to.bits) {
        (true, 16) => {
            let unsigned = Code::prefix("(unsigned short)", &bits);
            halves::value(if from.is_int() { &unsigned } else { &bits }, to, prelude)
        }
        (true, 32) => {
            Code::call("__int_as_float", &[if from.is_uint() { Code::prefix("(int)", &bits) } else { bits }])
        }
        (true, 64) => Code::call(
            "__longlong_as_double",
            &[if from.is_uint() { Code::prefix("(long long)", &bits) } else { bits }],
        ),
        _ if scalar(to)? == "int" || scalar(to)? == "long long" => bits,
        _ if from.is_float() && from.bits == 16 && to.is_uint() => bits,
        _ => Code::prefix(&format!("({})", scalar(to)?), &bits),
    })
}
