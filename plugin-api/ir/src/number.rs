//! Rounding of constants; the arithmetic of values is the interpreter's.

use half::{bf16, f16};

use crate::{DType, TypeCode};

/// Rounds a float64 into a float type, to nearest, halves to even; other types leave it alone.
#[must_use]
pub fn round_to(value: f64, dtype: DType) -> f64 {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 16) => f16::from_f32(to_odd(value)).to_f64(),
        (TypeCode::Float, 32) => f64::from(value as f32),
        (TypeCode::BFloat, 16) => bf16::from_f32(to_odd(value)).to_f64(),
        _ => value,
    }
}

/// A float64 as float32, its last bit set where it does not fit: rounding that once more to fewer bits is right, while
/// `f16::from_f64` goes by way of the nearest float32 on some machines and so rounds twice.
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

    /// ir: E1.
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
        assert!(round_to(f64::NAN, DType::FLOAT16).is_nan());
    }
}
