//! Functions of float32 for devices, and for hosts without float64, computed in float32 only.
//!
//! Devices promise little about float32: a product and a sum may be contracted, and sums may be
//! reordered if exact arithmetic would give the same. So no step here needs the rounding error of a
//! sum: numbers are split exactly by their bits, rounded to integers by a function, and the angle
//! of a large argument is found in integers. If the device rounds a quotient or a square root worse
//! than to nearest, that error adds.

pub(super) mod angle;
mod coefficients;
pub(super) mod exp;
pub(super) mod log;
pub(super) mod pow;
pub(super) mod trig;

use chipdock_ir::{DType, Expr};

use super::float::{self, polynomial};
use super::kit::{Steps, and, reinterpret};

/// The bits of a float32 as a uint32.
fn bits(x: &Expr) -> Expr {
    reinterpret(x.clone(), DType::UINT32)
}

/// The float32 of these bits, a uint32 or an int32.
fn of_bits(bits: Expr) -> Expr {
    reinterpret(bits, DType::FLOAT32)
}

/// The first 12 digits: products of two such are exact.
fn high(s: &Steps, x: &Expr) -> Expr {
    s.name("high", of_bits(and(bits(x), s.u32(0xffff_f000))))
}

/// The value as an int32, towards 0.
fn int(s: &Steps, x: Expr) -> Expr {
    x.cast(s.i32(0).dtype)
}

/// The integer as a float32.
pub(super) fn float(s: &Steps, x: Expr) -> Expr {
    x.cast(s.f32(0.0).dtype)
}

/// Clamps the value to the bounds; a NaN is kept.
pub(super) fn clamp(s: &Steps, x: &Expr, low: f32, high: f32) -> Expr {
    s.name("clamped", super::kit::min(s.f32(high), super::kit::max(s.f32(low), x.clone())))
}

/// Selects one of two values by a comparison of float32.
pub(super) fn if_less(s: &Steps, a: &Expr, b: f32, then: Expr, otherwise: Expr) -> Expr {
    Expr::select(super::kit::less(a.clone(), s.f32(b)), then, otherwise)
}
