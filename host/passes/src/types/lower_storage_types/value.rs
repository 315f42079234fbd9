//! Casts from and to storage types.

use chipdock_ir::{BinaryOp, DType, Expr, Op};

use super::value_type;
use crate::types::narrow_floats::{self, and, pair};

/// Casts a value that already has its value type (STORAGE-Y1).
pub(super) fn cast(value: Expr, from: DType, to: DType) -> Expr {
    let lanes = from.lanes;
    let number = match from {
        _ if from.scalar() == to.scalar() => return value,
        _ if from.is_float8() => narrow_floats::decoded(value, from),
        _ => value,
    };
    if to.is_float8() {
        narrow_floats::encoded(number, to)
    } else if to.is_sub_byte() {
        wrapped(number, to)
    } else if number.dtype == to.with_lanes(lanes) {
        number
    } else {
        number.cast(to)
    }
}

/// Converts a number to an integer of fewer bits: an integer wraps, a float saturates.
fn wrapped(number: Expr, to: DType) -> Expr {
    let lanes = number.dtype.lanes;
    let (low, high) = to.integer_range().unwrap_or((0, 0));
    if number.dtype.is_float() {
        let wide = DType::INT32.with_lanes(lanes);
        let int = |value: i128| Expr::int(value, DType::INT32).broadcast(lanes);
        let least = Expr::binary(BinaryOp::Max, number.cast(wide), int(low));
        return Expr::binary(BinaryOp::Min, least, int(high)).cast(value_type(to));
    }
    let bits = number.cast(DType::UINT32.with_lanes(lanes));
    extended(bits, to)
}

/// Extends the integer in the low bits of a uint32 to its value type.
pub(super) fn extended(bits: Expr, dtype: DType) -> Expr {
    let to = value_type(dtype).with_lanes(bits.dtype.lanes);
    let low = and(bits, (1 << dtype.bits) - 1);
    if !dtype.is_int() {
        return low.cast(to);
    }
    let sign = 1 << (dtype.bits - 1);
    let flipped = pair(Op::BitwiseXor, low, sign).cast(DType::INT32.with_lanes(to.lanes));
    let sign = Expr::int(sign, DType::INT32).broadcast(to.lanes);
    (flipped - sign).cast(to)
}
