//! The accuracy contract: how far each operation of a conforming backend may be from the exact result.

use crate::{DType, Op, TypeCode};

/// Units in the last place by which an op on floats of that type may be off; 0.5 is rounded to nearest, 0 is exact.
///
/// The numbers for float32 and float64 are those of the OpenCL C full profile (OpenCL C 3.0, "Relative Error as ULPs"),
/// the widest promise that every family of devices makes, but for what rule B1 of the interpreter (`chipdock-interpret`) rounds to
/// nearest. float16 and bfloat16 are computed in float32 and rounded once. Ops that are not on floats have 0.
///
/// ```
/// use chipdock_ir::{DType, Op, accuracy};
/// assert_eq!(accuracy::ulps(Op::Exp, DType::FLOAT32), 3.0);
/// assert_eq!(accuracy::ulps(Op::Exp, DType::FLOAT16), 1.0);
/// ```
#[must_use]
pub fn ulps(op: Op, dtype: DType) -> f64 {
    lane_ulps(op, matches!((dtype.code, dtype.bits), (TypeCode::Float | TypeCode::BFloat, 16)))
}

/// The same of ops whose float type is of 16 bits, or wider: for a constant of a generic function.
#[must_use]
pub const fn lane_ulps(op: Op, is_half: bool) -> f64 {
    let full = full_profile(op);
    if is_half && full > 1.0 { 1.0 } else { full }
}

const fn full_profile(op: Op) -> f64 {
    match op {
        Op::Sqrt | Op::Fma => 0.5,
        Op::Log1p | Op::Rsqrt => 2.0,
        Op::Exp | Op::Exp2 | Op::Exp10 | Op::Log | Op::Log2 | Op::Log10 => 3.0,
        Op::Acos | Op::Acosh | Op::Asin | Op::Asinh | Op::Cos | Op::Cosh | Op::Sin | Op::Sinh | Op::Hypot => {
            4.0
        }
        Op::Atan | Op::Atanh | Op::Tan | Op::Tanh => 5.0,
        // 1 / (1 + exp(-x)): an exponential, a sum and a quotient.
        Op::Atan2 | Op::Sigmoid => 6.0,
        Op::Erf | Op::Pow => 16.0,
        _ => 0.0,
    }
}
