//! Rounding of constants; the arithmetic of values is the interpreter's.

use half::{bf16, f16};

use crate::{DType, TypeCode};

/// Rounds a float64 into a float type, to nearest, halves to even; other types leave it alone.
#[must_use]
pub fn round_to(value: f64, dtype: DType) -> f64 {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 16) => f16::from_f64(value).to_f64(),
        (TypeCode::Float, 32) => f64::from(value as f32),
        (TypeCode::BFloat, 16) => bf16::from_f64(value).to_f64(),
        _ => value,
    }
}
