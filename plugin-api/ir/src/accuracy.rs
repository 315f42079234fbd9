//! The accuracy contract: the greatest error of each operation of a conforming backend.

use crate::{DType, Op, TypeCode};

/// Returns the units in the last place by which an op on floats of that type may be off; 0.5 is
/// rounded to nearest, 0 is exact.
///
/// The numbers for float32 and float64 are those of the OpenCL C full profile (OpenCL C 3.0,
/// "Relative Error as ULPs"), the widest promise that every family of devices makes, except for the
/// ops that rule IR-B1 of the interpreter (`chipdock-interpret`) rounds to nearest. An op that the
/// table lacks has the sum of the table's bounds of the operations that define it: `sigmoid`, the
/// only one so far, has 6, of which 3 are those of `exp`, 0.5 those of the sum and 2.5 those of the
/// quotient in `1 / (1 + exp(-x))`. float16 and bfloat16 are computed in float32 and rounded once.
/// Ops that are not on floats have 0.
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

/// As [`ulps`], for ops whose float type has 16 bits (`is_half`) or more: usable in a constant of a
/// generic function.
#[must_use]
pub const fn lane_ulps(op: Op, is_half: bool) -> f64 {
    let full = op.info().ulps;
    if is_half && full > 1.0 { 1.0 } else { full }
}
