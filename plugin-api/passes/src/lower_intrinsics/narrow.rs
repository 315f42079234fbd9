//! Functions of float32 for targets without float64: in float32 alone.
//!
//! What devices without float64 promise of float32 is little: a product and a sum may be contracted, and sums may be
//! reordered where exact arithmetic would give the same. So no step here needs the error of a sum: what has to be split
//! exactly is split by its bits, what has to be rounded to an integer is rounded by a function, and the angle of a large
//! argument is found in integers. A quotient or a square root that the device rounds worse than to nearest adds its own
//! error.

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
fn float(s: &Steps, x: Expr) -> Expr {
    x.cast(s.f32(0.0).dtype)
}

/// The value between the bounds, a NaN kept.
fn clamp(s: &Steps, x: &Expr, low: f32, high: f32) -> Expr {
    s.name("clamped", super::kit::min(s.f32(high), super::kit::max(s.f32(low), x.clone())))
}

/// One value or another, by a comparison of float32.
fn if_less(s: &Steps, a: &Expr, b: f32, then: Expr, otherwise: Expr) -> Expr {
    Expr::select(super::kit::less(a.clone(), s.f32(b)), then, otherwise)
}
