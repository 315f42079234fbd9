//! Constants and conversions of scalars (CF3, CF4).

use chipdock_ir::{DType, Op, TypeCode};

use super::{CFamily, Cast, computed, halves, is_half, scalar, short};
use crate::{Answer, Code, Infix, Precedence, Prelude, Refusal, decimal};

/// A constant; a leading minus sign is a unary operator.
fn signed(text: String) -> Code {
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Code::new(text, precedence)
}

/// An integer or boolean constant.
pub(super) fn integer<L: CFamily>(language: &L, value: i128, dtype: DType) -> Answer<Code> {
    let spellings = language.spellings();
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => if value == 0 { "false" } else { "true" }.to_owned(),
        (TypeCode::Handle, _) if value == 0 => match spellings.null {
            Some(null) => null.to_owned(),
            None => return Err(language.refused_type(dtype)),
        },
        (TypeCode::Int, 32) if value == i32::MIN.into() => spellings.least[0].to_owned(),
        (TypeCode::Int, 64) if value == i64::MIN.into() => spellings.least[1].to_owned(),
        (TypeCode::Int, 64) => format!("{value}{}", spellings.suffixes[0]),
        (TypeCode::Int, _) | (TypeCode::UInt, 8 | 16) => value.to_string(),
        (TypeCode::UInt, 32) => format!("{value}u"),
        (TypeCode::UInt, _) => format!("{value}{}", spellings.suffixes[1]),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    Ok(signed(text))
}

/// A float constant: the shortest decimal that every reader takes for the same value.
pub(super) fn float<L: CFamily>(
    language: &L,
    value: f64,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    language.check(dtype, prelude)?;
    scalar(language, dtype)?;
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    let is_double = dtype == DType::FLOAT64;
    let is_finite = if is_double { value.is_finite() } else { (value as f32).is_finite() };
    if !is_finite {
        return Ok(signed(language.not_finite(value, computed(dtype), prelude)?.text));
    }
    Ok(signed(decimal(value, dtype) + if is_double { "" } else { "f" }))
}

/// An infinity or NaN built from its bits: the default of [`CFamily::not_finite`].
pub(super) fn not_finite<L: CFamily>(
    language: &L,
    value: f64,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let (bits, unsigned, suffix) = if dtype == DType::FLOAT64 {
        (value.to_bits(), DType::UINT64, language.spellings().suffixes[1])
    } else {
        ((value as f32).to_bits().into(), DType::UINT32, "u")
    };
    language.bit_cast(&Code::primary(format!("{bits:#x}{suffix}")), unsigned, dtype, prelude)
}

/// The zero of a type.
pub(super) fn zero<L: CFamily>(language: &L, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let dtype = dtype.scalar();
    if dtype.is_float() { float(language, 0.0, dtype, prelude) } else { integer(language, 0, dtype) }
}

/// A conversion as the language writes it: `(T)x` or `T(x)`.
pub fn converted<L: CFamily>(language: &L, type_name: &str, value: &Code) -> Code {
    match language.spellings().cast {
        Cast::Prefix => Code::prefix(&format!("({type_name})"), value),
        Cast::Call => Code::call(type_name, std::slice::from_ref(value)),
    }
}

/// A conversion of a scalar with the IR's semantics.
///
/// # Errors
///
/// An unsupported type or conversion.
pub fn cast<L: CFamily>(
    language: &L,
    value: &Code,
    from: DType,
    to: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    language.check(to, prelude)?;
    if to.is_handle() || from.is_handle() {
        return cast_pointer(language, value, from, to);
    }
    let (from_type, to_type) = (scalar(language, from)?, scalar(language, to)?);
    if from == to {
        return Ok(value.clone());
    }
    if to.is_bool() {
        return Ok(Code::infix(Infix::NotEqual, value, &zero(language, from, prelude)?));
    }
    if is_half(to) {
        if from.is_bool() {
            return Ok(converted(language, "float", value));
        }
        let source = language.half_source(value, from, to, prelude)?;
        return Ok(language.half_rounded(&source, to, prelude));
    }
    if from.is_float() && to.is_integer() {
        return saturate(language, value, computed(from), to, prelude);
    }
    Ok(if from_type == to_type { value.clone() } else { converted(language, to_type, value) })
}

fn cast_pointer<L: CFamily>(language: &L, value: &Code, from: DType, to: DType) -> Answer<Code> {
    let spellings = language.spellings();
    match (from.is_handle(), to.is_handle(), spellings.null, spellings.address) {
        (true, true, ..) => Ok(value.clone()),
        (true, false, Some(null), _) if to.is_bool() => {
            Ok(Code::infix(Infix::NotEqual, value, &Code::primary(null)))
        }
        (true, false, _, Some(address)) if to.is_integer() => {
            let bits = converted(language, address, value);
            Ok(converted(language, scalar(language, to)?, &bits))
        }
        (false, true, _, Some(address)) if from.is_integer() => {
            let bits = converted(language, address, value);
            Ok(Code::prefix(&format!("({})", scalar(language, to)?), &bits))
        }
        _ => Err(Refusal::new(format!("has no conversion from {from} to {to}"))),
    }
}

/// Converts a float to an integer: truncated, saturated, 0 for a NaN. The languages define only the
/// truncation.
fn saturate<L: CFamily>(
    language: &L,
    value: &Code,
    from: DType,
    to: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let name = format!("cd_{}_from_{}", short(to), short(from));
    let (float_type, int_type) = (scalar(language, from)?, scalar(language, to)?);
    let (low, high) = to.integer_range().unwrap_or((0, 0));
    let suffix = if from == DType::FLOAT64 { "" } else { "f" };
    // `high + 1` and `low` are powers of two (or 0), exact in every float type; a float16 is
    // represented by a float.
    let above = format!("{:?}{suffix}", (high + 1) as f64);
    let below = format!("{:?}{suffix}", low as f64);
    let (low, high) = (integer(language, low, to)?.text, integer(language, high, to)?.text);
    let within = converted(language, int_type, &Code::primary("x")).text;
    let helper = language.spellings().helper;
    prelude.define(&name, |_| {
        format!(
            "{helper} {int_type} {name}({float_type} x) {{\n    \
                 if (x >= {above}) return {high};\n    \
                 if (x > {below}) return {within};\n    \
                 return x != x ? 0 : {low};\n}}\n"
        )
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// Reinterprets the bits of a scalar as another type of equal size.
pub(super) fn reinterpret<L: CFamily>(
    language: &L,
    value: &Code,
    from: DType,
    to: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    scalar(language, from)?;
    scalar(language, to)?;
    if from == to {
        return Ok(value.clone());
    }
    if from.is_handle() || to.is_handle() || from.is_bool() || to.is_bool() {
        return cast(language, value, from, to, prelude);
    }
    if from.bits != to.bits {
        return Err(Refusal::new(format!("has no {from} read as {to}: their sizes differ")));
    }
    // A half's bits are an integer, but the half itself is represented by a float.
    let bits = if is_half(from) { language.half_bits(value, from, prelude) } else { value.clone() };
    let (from, half) = (if is_half(from) { DType::UINT16 } else { from }, to);
    let to = if is_half(to) { DType::UINT16 } else { to };
    let bits = if from.is_integer() && to.is_integer() {
        cast(language, &bits, from, to, prelude)?
    } else {
        language.bit_cast(&bits, from, to, prelude)?
    };
    Ok(if is_half(half) { language.half_value(&bits, half, prelude) } else { bits })
}

/// Reinterprets the bits through a union: the default of [`CFamily::bit_cast`].
pub(super) fn bit_cast<L: CFamily>(
    language: &L,
    value: &Code,
    from: DType,
    to: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let name = format!("cd_{}_bits_of_{}", short(to), short(from));
    let (helper, from, to) = (language.spellings().helper, scalar(language, from)?, scalar(language, to)?);
    prelude.define(&name, |_| {
        format!(
            "{helper} {to} {name}({from} x) {{\n    union {{ {from} from; {to} to; }} bits;\n    \
             bits.from = x;\n    return bits.to;\n}}\n"
        )
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// A float that rounds to a half as the value does, computed through double: the default of
/// [`CFamily::half_source`].
pub(super) fn half_source<L: CFamily>(
    language: &L,
    value: &Code,
    from: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    if from.is_float() && from.bits <= 32 {
        return Ok(value.clone());
    }
    let double = if from == DType::FLOAT64 {
        value.clone()
    } else if from.bits == 64 {
        halves::odd_double(language, value, from, prelude)?
    } else {
        converted(language, scalar(language, DType::FLOAT64)?, value)
    };
    halves::odd(language, &double, prelude)
}

/// A fused multiply-add of halves, rounded once: their product is exact in double. `None` if the
/// language has no such function.
pub fn half_fma<L: CFamily>(
    language: &L,
    args: &[(Code, DType)],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let double = language.spellings().float64?;
    let args: Vec<Code> = args.iter().map(|(code, _)| converted(language, double, code)).collect();
    let fma = language.spellings().ops.spell(Op::Fma, DType::FLOAT64, &args, prelude)?;
    Some(cast(language, &fma, DType::FLOAT64, dtype, prelude))
}
