//! float16 and bfloat16: 16 bits in memory, computed in float (CF2).

use chipdock_ir::{DType, TypeCode};

use super::{CFamily, converted, scalar, short};
use crate::{Answer, Code, Precedence, Prelude};

/// A helper that converts between a float and the 16 bits of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Converts the bits of a float16 to its value.
    F16Value,
    /// Converts a float to the bits of a float16, rounded to nearest even.
    F16Bits,
    /// Converts the bits of a bfloat16 to its value.
    Bf16Value,
    /// Converts a float to the bits of a bfloat16, rounded to nearest even.
    Bf16Bits,
}

impl Half {
    /// The helper that converts the type's bits to a value.
    #[must_use]
    pub fn value_of(dtype: DType) -> Self {
        if dtype.code == TypeCode::BFloat { Self::Bf16Value } else { Self::F16Value }
    }

    /// The helper that converts a value to the type's bits.
    #[must_use]
    pub fn bits_of(dtype: DType) -> Self {
        if dtype.code == TypeCode::BFloat { Self::Bf16Bits } else { Self::F16Bits }
    }

    /// The name of the helper in the text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F16Value => "cd_f16_value",
            Self::F16Bits => "cd_f16_bits",
            Self::Bf16Value => "cd_bf16_value",
            Self::Bf16Bits => "cd_bf16_bits",
        }
    }

    fn call<L: CFamily>(self, language: &L, arg: &Code, prelude: &mut Prelude) -> Code {
        language.define_half(self, prelude);
        Code::call(self.name(), std::slice::from_ref(arg))
    }

    /// Converts 16 bits to a value with the type's helper: the default of [`CFamily::half_value`].
    pub fn value<L: CFamily>(language: &L, bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        Self::value_of(dtype).call(language, bits, prelude)
    }

    /// Converts a float to 16 bits with the type's helper: the default of [`CFamily::half_bits`].
    pub fn bits<L: CFamily>(language: &L, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        Self::bits_of(dtype).call(language, &unrounded(value, dtype), prelude)
    }

    /// Rounds a float to nearest even into the type by way of its bits: the default of
    /// [`CFamily::half_rounded`].
    pub fn rounded<L: CFamily>(language: &L, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        let (name, helper) = (name_of_round(dtype), language.spellings().helper);
        prelude.define(name, |prelude| {
            language.define_half(Self::value_of(dtype), prelude);
            let bits = language.half_bits(&Code::primary("x"), dtype, prelude);
            let value = language.half_value(&bits, dtype, prelude).text;
            format!("{helper} float {name}(float x) {{\n    return {value};\n}}\n")
        });
        Code::call(name, std::slice::from_ref(value))
    }

    /// Defines the helper in integer arithmetic: the default of [`CFamily::define_half`].
    pub fn define<L: CFamily>(self, language: &L, prelude: &mut Prelude) {
        if !prelude.contains(self.name()) {
            let text = self.text(language, prelude);
            prelude.define(self.name(), |_| text);
        }
    }

    /// The text of the helper's definition in integer arithmetic. Helpers that it needs are defined
    /// on the way.
    pub fn text<L: CFamily>(self, language: &L, prelude: &mut Prelude) -> String {
        let template = match self {
            Self::F16Value => F16_VALUE,
            Self::F16Bits => F16_BITS,
            Self::Bf16Value => BF16_VALUE,
            Self::Bf16Bits => BF16_BITS,
        };
        // A language without these integer types rejects the module where it names the type of a
        // value.
        filled(language, template, prelude).unwrap_or_default()
    }
}

fn name_of_round(dtype: DType) -> &'static str {
    if dtype.code == TypeCode::BFloat { "cd_round_bf16" } else { "cd_round_f16" }
}

/// The argument of `value` if that is a call of the rounding helper, otherwise `value`: taking the
/// bits rounds again.
fn unrounded(value: &Code, dtype: DType) -> Code {
    let call = value.text.strip_prefix(name_of_round(dtype)).and_then(|rest| rest.strip_prefix('('));
    let is_whole = |inner: &&str| {
        let mut depth = 0_i32;
        inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    };
    match call.and_then(|rest| rest.strip_suffix(')')).filter(is_whole) {
        Some(inner) => Code::new(inner, Precedence::Conditional),
        None => value.clone(),
    }
}

/// A double as a float, rounded to odd: rounding the result again to fewer bits rounds the double
/// once.
pub(super) fn odd<L: CFamily>(language: &L, value: &Code, prelude: &mut Prelude) -> Answer<Code> {
    let name = "cd_odd_f32";
    if !prelude.contains(name) {
        let text = filled(language, ODD, prelude)?;
        prelude.define(name, |_| text);
    }
    Ok(Code::call(name, std::slice::from_ref(value)))
}

/// A 64-bit integer as a double, rounded to odd.
pub(super) fn odd_double<L: CFamily>(
    language: &L,
    value: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let name = if dtype.is_int() { "cd_odd_f64_of_i64" } else { "cd_odd_f64_of_u64" };
    let (helper, type_name) = (language.spellings().helper, scalar(language, dtype)?);
    let double = scalar(language, DType::FLOAT64)?;
    let (signed, unsigned) = (language.spellings().suffixes[0], language.spellings().suffixes[1]);
    let exact = if dtype.is_int() {
        format!("x >= -(1{signed} << 53) && x <= 1{signed} << 53")
    } else {
        format!("x <= 1{unsigned} << 53")
    };
    let plain = converted(language, double, &Code::primary("x")).text;
    let odd = converted(language, double, &Code::new("(x - low) | 2048", Precedence::BitOr)).text;
    prelude.define(name, |_| {
        format!(
            "{helper} {double} {name}({type_name} x) {{\n    \
                 // Past 53 bits the low 11 cannot all be kept: bit 11 remembers whether any was set.\n    \
                 {type_name} low = x & 2047;\n    \
                 if (({exact}) || low == 0) return {plain};\n    \
                 return {odd};\n}}\n"
        )
    });
    Ok(Code::call(name, std::slice::from_ref(value)))
}

/// Expands a template with the language's spellings: `$helper`, `$u16`, `$u32`, `$narrow(…)` to 16
/// bits, and between floats and their bits `$bits(…)`, `$float(…)`. The argument of a mark at the
/// end of a statement ends with the statement.
fn filled<L: CFamily>(language: &L, template: &str, prelude: &mut Prelude) -> Answer<String> {
    let (u16, u32) = (scalar(language, DType::UINT16)?, scalar(language, DType::UINT32)?);
    let mut text = String::new();
    for line in template.lines() {
        let mut line = line.to_owned();
        while let Some((before, mark, inner, after)) = marked(&line) {
            let inner = Code::new(inner, Precedence::Conditional);
            let inner = if inner.text.chars().all(|c| c.is_ascii_alphanumeric()) {
                Code::primary(inner.text)
            } else {
                inner
            };
            let code = match mark {
                "$bits" => language.bit_cast(&inner, DType::FLOAT32, DType::UINT32, prelude)?,
                "$float" => language.bit_cast(&inner, DType::UINT32, DType::FLOAT32, prelude)?,
                "$wide" => converted(language, u32, &inner),
                "$single" => converted(language, "float", &inner),
                "$double" => converted(language, scalar(language, DType::FLOAT64)?, &inner),
                _ => converted(language, u16, &inner),
            };
            line = format!("{before}{}{after}", code.text);
        }
        text.push_str(
            &line.replace("$helper", language.spellings().helper).replace("$u16", u16).replace("$u32", u32),
        );
        text.push('\n');
    }
    Ok(text)
}

/// Splits a line at its innermost mark with an argument: the text before it, the mark, its
/// argument, the text after it.
fn marked(line: &str) -> Option<(&str, &str, &str, &str)> {
    let marks = ["$bits", "$float", "$wide", "$single", "$double", "$narrow"];
    let (at, mark) = marks.iter().filter_map(|mark| Some((line.rfind(&format!("{mark}("))?, *mark))).max()?;
    let start = at + mark.len() + 1;
    let mut depth = 1_i32;
    let end = line[start..].find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some((&line[..at], mark, &line[start..start + end], &line[start + end + 1..]))
}

const BF16_VALUE: &str = "\
$helper float cd_bf16_value($u16 bits) {
    return $float($wide(bits) << 16);
}
";

const BF16_BITS: &str = "\
$helper $u16 cd_bf16_bits(float x) {
    $u32 bits = $bits(x);
    return $narrow(x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : bits >> 16 | 64u);
}
";

const F16_VALUE: &str = "\
$helper float cd_f16_value($u16 half) {
    $u32 sign = $wide(half & 0x8000) << 16, rest = half & 0x7fff;
    // Below the least normal half: units of 2^-24, which a float has exactly.
    if (rest < 0x400) return $float($bits($single(rest) * 5.9604645e-8f) | sign);
    if (rest >= 0x7c00) return $float(sign | 0x7f800000u | (rest & 0x3ff) << 13);
    return $float(sign | ((rest << 13) + 0x38000000u));
}
";

const F16_BITS: &str = "\
$helper $u16 cd_f16_bits(float x) {
    $u32 bits = $bits(x), sign = bits >> 16 & 0x8000u;
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return $narrow(sign | 0x7e00u | (bits >> 13 & 0x1ffu));
    if (bits >= 0x477ff000u) return $narrow(sign | 0x7c00u);
    // Below the least normal half: adding 0.5 leaves units of 2^-24 and rounds on the way.
    if (bits < 0x38800000u) return $narrow(sign | ($bits($float(bits) + 0.5f) - 0x3f000000u));
    return $narrow(sign | ((bits + 0xfffu + (bits >> 13 & 1u) - 0x38000000u) >> 13));
}
";

const ODD: &str = "\
$helper float cd_odd_f32(double x) {
    float f = $single(x);
    if (x != x || $double(f) == x) return f;
    double a = x < 0 ? -x : x, b = f < 0 ? -$double(f) : $double(f);
    return $float(($bits(f) - (b > a)) | 1u);
}
";

/// The next value of a type of halves from `a` towards `b`: halves of one sign are ordered as their
/// bits are.
pub fn half_next<L: CFamily>(language: &L, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_nextafter_{}", short(dtype));
    prelude.define(&name, |prelude| {
        let (helper, bits_type) = (language.spellings().helper, language.spellings().unsigned[1]);
        let bits = language.half_bits(&Code::primary("a"), dtype, prelude).text;
        let value = language.half_value(&Code::primary("bits"), dtype, prelude).text;
        let least = language.half_value(&Code::primary("1"), dtype, prelude).text;
        format!(
            "{helper} float {name}(float a, float b) {{\n    if (a != a || b != b) return a + b;\n    \
             if (a == b) return b;\n    if (a == 0) return b > 0 ? {least} : -{least};\n    \
             {bits_type} bits = {bits};\n    bits += (a < b) == (a > 0) ? 1 : -1;\n    return {value};\n}}\n"
        )
    });
    Code::call(&name, &[a.clone(), b.clone()])
}
