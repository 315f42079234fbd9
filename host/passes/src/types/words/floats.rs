//! Conversions from and to floats.

use chipdock_ir::{CompareOp, DType, Expr, Op};

use super::{Words, choice, constant, float_of, is_negative, named, negated, one_if};
use crate::types::lower_intrinsics::kit::{Steps, abs, and, less, or, shl, unary};

const TWO_TO_32: f64 = 4_294_967_296.0;

/// The integer as a float, rounded once to nearest, ties to even.
pub(crate) fn to_float(s: &Steps, a: &Words, is_signed: bool, to: DType) -> Expr {
    if to.bits == 64 {
        // The upper word's part is exact, the lower one's too; their sum is rounded.
        let high = if is_signed { super::as_signed(a.high.clone()) } else { a.high.clone() };
        return high.cast(to) * Expr::float(TWO_TO_32, to) + a.low.clone().cast(to);
    }
    let negative = is_signed.then(|| is_negative(s, a));
    let size = match &negative {
        Some(negative) => choice(s, negative, &negated(s, a), a),
        None => a.clone(),
    };
    let is_long = s.name("is_long", Expr::compare(CompareOp::Ne, size.high.clone(), s.u32(0)));
    let zeros = Expr::call(Op::Clz, vec![size.high.clone()], s.i32(0).dtype);
    let moved = s.name("moved", and(zeros.cast(size.high.dtype), s.u32(31)));
    // The leading 32 digits; the last of them is a sticky bit for all that follow, so that ties are
    // recognised.
    let rest = Expr::compare(CompareOp::Ne, shl(size.low.clone(), moved.clone()), s.u32(0));
    let leading = or(s.moved(&size.high, &size.low, &moved), one_if(s, rest));
    let digits = Expr::select(is_long.clone(), leading, size.low);
    let exponent = Expr::select(is_long, s.u32(127 + 32) - moved, s.u32(127));
    let power = float_of(shl(exponent, s.u32(23)));
    let wide = DType::FLOAT32.with_lanes(to.lanes);
    let value = s.name("value", digits.cast(to).cast(wide) * power);
    let value = match negative {
        Some(negative) => Expr::select(negative, s.f32(0.0) - value.clone(), value),
        None => value,
    };
    value.cast(to)
}

/// A float as an integer: truncated, saturated, 0 for a NaN.
pub(crate) fn from_float(s: &Steps, x: &Expr, is_signed: bool) -> Words {
    let wide = if x.dtype.bits == 64 { x.dtype } else { DType::FLOAT32.with_lanes(x.dtype.lanes) };
    let float = |value: f64| Expr::float(value, wide);
    let x = s.name("x", x.clone().cast(wide));
    let size = s.name("size", abs(&x));
    // Both parts are exact: scaling by a power of two changes no digit, and the difference has no
    // digit that the number lacks.
    let upper = s.name("upper", unary(Op::Floor, &(size.clone() * float(1.0 / TWO_TO_32))));
    let lower = size.clone() - upper.clone() * float(TWO_TO_32);
    let word = |part: Expr| part.cast(s.u32(0).dtype);
    let words = named(s, word(upper), word(lower));
    let negative = s.name("negative", less(x, float(0.0)));
    let limit = if is_signed { TWO_TO_32 * TWO_TO_32 / 2.0 } else { TWO_TO_32 * TWO_TO_32 };
    let is_past = s.name("is_past", Expr::compare(CompareOp::Ge, size, float(limit)));
    let (least, most) =
        if is_signed { (i64::MIN.into(), i64::MAX.into()) } else { (0, i128::from(u64::MAX)) };
    let below = if is_signed { negated(s, &words) } else { constant(s, 0) };
    let below = choice(s, &is_past, &constant(s, least), &below);
    let above = choice(s, &is_past, &constant(s, most), &words);
    choice(s, &negative, &below, &above)
}
