//! Types, constants and conversions of scalars.
//!
//! float16 and bfloat16 are held in float, which has all of their values, and rounded after each operation; their memory is
//! `half`, and `ushort` (or `bfloat` by an option).

use chipdock_codegen_source::{Answer, Code, Infix, Precedence, Prelude, Refusal};
use chipdock_ir::{DType, PointerType, StorageRank, StorageScope, TypeCode};

/// The type of a scalar in variables and expressions.
pub(super) fn scalar(dtype: DType) -> Answer<&'static str> {
    match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => Ok("bool"),
        (TypeCode::Float, 16 | 32) | (TypeCode::BFloat, _) => Ok("float"),
        (TypeCode::Int | TypeCode::UInt, _) => memory(dtype, false),
        (TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2, _) => {
            Err(Refusal::new(format!("has no type {}: it is lowered before", dtype.scalar())))
        }
        (TypeCode::Handle, _) => {
            Err(Refusal::new("has no untyped pointers: a pointer says where it points to"))
        }
        (TypeCode::Float, _) => {
            Err(Refusal::new(format!("has no {}: MSL has no double; use float32", dtype.scalar())))
        }
    }
}

/// The type of a scalar in memory.
pub(super) fn memory(dtype: DType, has_bfloat: bool) -> Answer<&'static str> {
    Ok(match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) | (TypeCode::UInt, 8) => "uchar",
        (TypeCode::Int, 8) => "char",
        (TypeCode::Int, 16) => "short",
        (TypeCode::Int, 32) => "int",
        (TypeCode::Int, 64) => "long",
        (TypeCode::UInt, 16) => "ushort",
        (TypeCode::UInt, 32) => "uint",
        (TypeCode::UInt, 64) => "ulong",
        (TypeCode::Float, 16) => "half",
        (TypeCode::BFloat, _) if has_bfloat => "bfloat",
        (TypeCode::BFloat, _) => "ushort",
        (TypeCode::Float, 32) => "float",
        _ => return scalar(dtype),
    })
}

/// The type of a value of any number of lanes that MSL has.
pub(super) fn value_type(dtype: DType) -> Answer<String> {
    let scalar = scalar(dtype)?;
    match dtype.lanes {
        1 => Ok(scalar.to_owned()),
        lanes @ 2..=4 => Ok(format!("{scalar}{lanes}")),
        lanes => Err(Refusal::new(format!("has no vectors of {lanes} lanes ({dtype}); it has 2, 3 and 4"))),
    }
}

/// The address space of a scope.
pub(super) fn space(scope: &StorageScope) -> Answer<&'static str> {
    match (scope.rank, scope.tag.as_str()) {
        (StorageRank::Global, "") => Ok("device"),
        (StorageRank::Shared, "" | ".dyn") => Ok("threadgroup"),
        (StorageRank::Local, "") => Ok("thread"),
        _ => Err(Refusal::new(format!(
            "has no memory of scope \"{scope}\"; it has global, shared, shared.dyn and local"
        ))),
    }
}

pub(super) fn pointer(pointer: Option<&PointerType>, has_bfloat: bool) -> Answer<String> {
    let Some(pointer) = pointer else {
        return Err(Refusal::new("has no untyped pointers: a pointer says where it points to"));
    };
    Ok(format!("{} {}*", space(&pointer.scope)?, memory(pointer.element.scalar(), has_bfloat)?))
}

/// A type's name within the names of helpers.
pub(super) fn short(dtype: DType) -> String {
    let letter = match dtype.code {
        TypeCode::Bool => return "bool".to_owned(),
        TypeCode::Int => "i",
        TypeCode::UInt => "u",
        TypeCode::Float => "f",
        TypeCode::BFloat => "bf",
        // Lowered before code generation.
        TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2 => "f8_",
        TypeCode::Handle => "handle",
    };
    format!("{letter}{}", dtype.bits)
}

pub(super) fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

pub(super) fn one(name: &str, value: &Code) -> Code {
    Code::primary(format!("{name}({})", value.text))
}

pub(super) fn integer(value: i128, dtype: DType) -> Answer<Code> {
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => if value == 0 { "false" } else { "true" }.to_owned(),
        (TypeCode::Int, 64) if value == i64::MIN.into() => "long(0x8000000000000000ul)".to_owned(),
        (TypeCode::Int, 32) if value == i32::MIN.into() => "int(0x80000000u)".to_owned(),
        (TypeCode::Int, 64) => format!("{value}l"),
        (TypeCode::Int, _) | (TypeCode::UInt, 8 | 16) => value.to_string(),
        (TypeCode::UInt, 32) => format!("{value}u"),
        (TypeCode::UInt, _) => format!("{value}ul"),
        _ => return Err(Refusal::new(format!("has no integer constant of type {dtype}"))),
    };
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A float constant: the shortest decimal that reads back as the same value.
pub(super) fn float(value: f64, dtype: DType) -> Answer<Code> {
    scalar(dtype)?;
    if !dtype.is_float() {
        return Err(Refusal::new(format!("has no float constant of type {dtype}")));
    }
    let value = value as f32;
    if !value.is_finite() {
        return Ok(Code::primary(format!("as_type<float>({:#x}u)", value.to_bits())));
    }
    let text = format!("{value:?}f");
    let precedence = if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
    Ok(Code::new(text, precedence))
}

/// A scalar conversion.
pub(super) fn cast(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let to_type = scalar(to)?;
    scalar(from)?;
    if from == to {
        return Ok(value.clone());
    }
    if to.is_bool() {
        let zero = if from.is_float() { float(0.0, from)? } else { integer(0, from)? };
        return Ok(Code::infix(Infix::NotEqual, value, &zero));
    }
    if from.is_float() && to.is_integer() {
        return Ok(saturate(value, to, prelude));
    }
    if from.is_bool() || to.is_integer() {
        return Ok(one(to_type, value));
    }
    if from.is_integer() {
        let is_exact = to.code != TypeCode::BFloat || from.bits <= 16;
        let float = if is_exact { one("float", value) } else { odd(value, from, prelude) };
        return Ok(if is_half(to) { round(&float, to, prelude) } else { float });
    }
    Ok(if is_half(to) { round(value, to, prelude) } else { value.clone() })
}

/// Float to integer: truncated, saturated, 0 for a NaN, which C++ leaves undefined.
fn saturate(value: &Code, to: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_{}_of_float", short(to));
    prelude.define(&name, |_| {
        let (low, high) = to.integer_range().unwrap_or((0, 0));
        let target = scalar(to).unwrap_or("long");
        let limit = |value: i128| integer(value, to).map(|code| code.text).unwrap_or_default();
        // `high + 1` and `low` are powers of two (or 0), exact in float.
        let (above, below) = ((high + 1) as f32, low as f32);
        format!(
            "static inline {target} {name}(float x) {{\n    \
                 if (x >= {above:?}f) return {};\n    \
                 if (x > {below:?}f) return {target}(x);\n    \
                 return x <= {below:?}f ? {} : 0;\n}}\n",
            limit(high),
            limit(low)
        )
    });
    one(&name, value)
}

/// An integer as a float, rounded to odd: rounding that to bfloat16 rounds the integer once.
fn odd(value: &Code, from: DType, prelude: &mut Prelude) -> Code {
    prelude.define("cd_odd_of_ulong", |_| ODD_OF_ULONG.to_owned());
    if from.is_uint() {
        return one("cd_odd_of_ulong", &one("ulong", value));
    }
    prelude.define("cd_odd_of_long", |_| ODD_OF_LONG.to_owned());
    one("cd_odd_of_long", &one("long", value))
}

/// A float rounded to nearest even into a half.
pub(super) fn round(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if dtype.code == TypeCode::BFloat {
        prelude.define("cd_round_bf16", |prelude| {
            prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
            "static inline float cd_round_bf16(float x) {\n    return as_type<float>(uint(cd_bf16_bits(x)) << 16);\n}\n"
                .to_owned()
        });
        return one("cd_round_bf16", value);
    }
    one("float", &one("half", value))
}

/// What memory holds, as a value.
pub(super) fn loaded(element: &Code, dtype: DType, has_bfloat: bool) -> Code {
    if dtype.is_bool() {
        Code::infix(Infix::NotEqual, element, &Code::primary("0"))
    } else if dtype.code == TypeCode::BFloat && !has_bfloat {
        let wide = Code::infix(Infix::ShiftLeft, &one("uint", element), &Code::primary("16"));
        one("as_type<float>", &wide)
    } else if is_half(dtype) {
        one("float", element)
    } else {
        element.clone()
    }
}

/// A value as memory holds it.
pub(super) fn stored(value: &Code, dtype: DType, has_bfloat: bool, prelude: &mut Prelude) -> Code {
    if dtype.is_bool() {
        one("uchar", value)
    } else if dtype.code == TypeCode::BFloat && !has_bfloat {
        prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
        one("cd_bf16_bits", value)
    } else if is_half(dtype) {
        one(if dtype.code == TypeCode::BFloat { "bfloat" } else { "half" }, value)
    } else {
        value.clone()
    }
}

/// The bits of a scalar as another type of equal size.
pub(super) fn reinterpret(value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
    let to_type = scalar(to)?;
    scalar(from)?;
    if from == to {
        return Ok(value.clone());
    }
    if from.bits != to.bits {
        return Err(Refusal::new(format!("has no {from} read as {to}: their sizes differ")));
    }
    if from.is_bool() || to.is_bool() || (from.is_integer() && to.is_integer()) {
        return cast(value, from, to, prelude);
    }
    if from.bits != 16 {
        return Ok(one(&format!("as_type<{to_type}>"), value));
    }
    let bits = match (is_half(from), from.code) {
        (true, TypeCode::BFloat) => {
            prelude.define("cd_bf16_bits", |_| BF16_BITS.to_owned());
            one("cd_bf16_bits", value)
        }
        (true, _) => one("as_type<ushort>", &one("half", value)),
        _ => one("ushort", value),
    };
    Ok(match (is_half(to), to.code) {
        (true, TypeCode::BFloat) => loaded(&bits, to, false),
        (true, _) => one("float", &one("as_type<half>", &bits)),
        _ => one(to_type, &bits),
    })
}

const BF16_BITS: &str = "\
static inline ushort cd_bf16_bits(float x) {
    uint bits = as_type<uint>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return ushort((bits >> 16) | 64u);
    return ushort((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
";

const ODD_OF_ULONG: &str = "\
static inline float cd_odd_of_ulong(ulong x) {
    float f = float(x);
    bool is_above = f >= 18446744073709551616.0f || ulong(f) > x;
    if (!is_above && ulong(f) == x) return f;
    return as_type<float>((as_type<uint>(f) - (is_above ? 1u : 0u)) | 1u);
}
";

const ODD_OF_LONG: &str = "\
static inline float cd_odd_of_long(long x) {
    return x < 0 ? -cd_odd_of_ulong(0ul - ulong(x)) : cd_odd_of_ulong(ulong(x));
}
";
