//! Rounding of constants; the interpreter has the arithmetic of values.

use half::{bf16, f16};

use crate::{DType, TypeCode};

/// Rounds a float64 to a float type, to nearest, halves to even; for other types the value is
/// unchanged.
#[must_use]
pub fn round_to(value: f64, dtype: DType) -> f64 {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 16) => f16::from_f32(to_odd(value)).to_f64(),
        (TypeCode::Float, 32) => f64::from(value as f32),
        (TypeCode::BFloat, 16) => bf16::from_f32(to_odd(value)).to_f64(),
        _ if dtype.is_float8() => float8_value(float8_bits(value, dtype), dtype),
        _ => value,
    }
}

/// A float format of 8 bits: a sign, an exponent, a mantissa.
struct Float8 {
    mantissa_bits: i32,
    bias: i32,
    max: f64,
    /// Bits of a value that rounds above the greatest one.
    overflow: u8,
    nan: u8,
}

impl Float8 {
    const fn of(dtype: DType) -> Self {
        match dtype.code {
            TypeCode::Float8E5M2 => {
                Self { mantissa_bits: 2, bias: 15, max: 57344.0, overflow: 0x7c, nan: 0x7e }
            }
            _ => Self { mantissa_bits: 3, bias: 7, max: 448.0, overflow: 0x7f, nan: 0x7f },
        }
    }
}

/// Converts a float64 to the bits of a float8 type ([`DType::is_float8`]): to nearest, halves to
/// even, subnormals kept. A value that rounds above the greatest finite one is infinite in
/// `float8_e5m2`, and a NaN in `float8_e4m3fn`, which has no infinity.
#[must_use]
pub fn float8_bits(value: f64, dtype: DType) -> u8 {
    let format = Float8::of(dtype);
    let sign = u8::from(value.is_sign_negative()) << 7;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | format.nan;
    }
    if magnitude >= 2.0 * format.max {
        return sign | format.overflow;
    }
    // Below the least normal value, the step between neighbours is that of the least normal.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - format.bias);
    // Exact: a power of two, and the sum of a few bits.
    let steps = (magnitude * 2_f64.powi(format.mantissa_bits - exponent)).round_ties_even() as i32;
    if f64::from(steps) * 2_f64.powi(exponent - format.mantissa_bits) > format.max {
        return sign | format.overflow;
    }
    // If rounding carries out of the mantissa, the exponent is incremented.
    let bits = ((exponent + format.bias - 1) << format.mantissa_bits) + steps;
    sign | bits as u8
}

/// Converts a float64 to the bits of float16 or bfloat16: to nearest, halves to even, subnormals
/// kept. Any other type is taken for float16.
#[must_use]
pub fn half_bits(value: f64, dtype: DType) -> u16 {
    match dtype.code {
        TypeCode::BFloat => bf16::from_f32(to_odd(value)).to_bits(),
        _ => f16::from_f32(to_odd(value)).to_bits(),
    }
}

/// Converts a float64 to the bits of a float type: to nearest, halves to even, subnormals kept; a
/// NaN to the quiet one without a sign and without a payload. Any other type is taken for float64.
#[must_use]
pub fn float_bits(value: f64, dtype: DType) -> u64 {
    let value = if value.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { value };
    match (dtype.code, dtype.bits) {
        _ if dtype.is_float8() => float8_bits(value, dtype).into(),
        (TypeCode::Float | TypeCode::BFloat, 16) => half_bits(value, dtype).into(),
        (TypeCode::Float, 32) if value.is_nan() => 0x7fc0_0000,
        (TypeCode::Float, 32) => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Returns the exact value of the bits of a float type; a NaN without its payload. Any other type
/// is taken for float64.
#[must_use]
pub fn float_of_bits(bits: u64, dtype: DType) -> f64 {
    match (dtype.code, dtype.bits) {
        _ if dtype.is_float8() => float8_value(bits as u8, dtype),
        (TypeCode::BFloat, 16) => bf16::from_bits(bits as u16).to_f64(),
        (TypeCode::Float, 16) => f16::from_bits(bits as u16).to_f64(),
        (TypeCode::Float, 32) => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// Returns the exact value of the bits of a float8 type.
#[must_use]
pub fn float8_value(bits: u8, dtype: DType) -> f64 {
    let format = Float8::of(dtype);
    let magnitude = i32::from(bits & 0x7f);
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) =
        (magnitude >> format.mantissa_bits, magnitude & ((1 << format.mantissa_bits) - 1));
    let step = 2_f64.powi(exponent.max(1) - format.bias - format.mantissa_bits);
    let implicit = i32::from(exponent > 0) << format.mantissa_bits;
    let value = f64::from(implicit + mantissa) * step;
    match value {
        value if value <= format.max => sign * value,
        _ if bits & 0x7f == format.overflow && format.overflow != format.nan => sign * f64::INFINITY,
        _ => f64::NAN.copysign(sign),
    }
}

/// Converts a float64 to float32 and sets its last bit if the value is not representable: rounding
/// the result to fewer bits is then correct, while `f16::from_f64` uses the nearest float32 on some
/// machines and so rounds twice.
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if value.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let is_past = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_past)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ir: IR-E1.
    #[test]
    fn constants_are_rounded_once() {
        let middle = 2_f64.powi(-25);
        let past = f64::from_bits(middle.to_bits() + 1);
        assert_eq!(round_to(middle, DType::FLOAT16), 0.0);
        assert_eq!(round_to(past, DType::FLOAT16), 2_f64.powi(-24));
        assert_eq!(round_to(-past, DType::FLOAT16), -2_f64.powi(-24));
        let brain = 1.0 + 2_f64.powi(-8);
        assert_eq!(round_to(brain, DType::BFLOAT16), 1.0);
        assert_eq!(round_to(f64::from_bits(brain.to_bits() + 1), DType::BFLOAT16), 1.0 + 2_f64.powi(-7));
        assert_eq!(round_to(1e300, DType::FLOAT16), f64::INFINITY);
        assert_eq!([half_bits(past, DType::FLOAT16), half_bits(-1e300, DType::FLOAT16)], [1, 0xfc00]);
        assert_eq!([half_bits(brain, DType::BFLOAT16), half_bits(-0.0, DType::BFLOAT16)], [0x3f80, 0x8000]);
        assert!(round_to(f64::NAN, DType::FLOAT16).is_nan());
    }
}
