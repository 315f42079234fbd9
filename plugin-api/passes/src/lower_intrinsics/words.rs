//! 64-bit integers as pairs of uint32, for targets without int64.

use chipdock_ir::{CompareOp, Expr};

use super::kit::{Steps, and, narrow, or, shl, shr};

/// An integer of 64 bits, modulo 2^64.
struct Words {
    high: Expr,
    low: Expr,
}

/// An int32 with its sign in the upper word.
fn extended(s: &Steps, x: &Expr) -> Words {
    let low = s.name("low", x.clone().cast(s.u32(0).dtype));
    let negative = Expr::compare(CompareOp::Lt, x.clone(), s.i32(0));
    Words { high: s.name("high", Expr::select(negative, s.u32(u32::MAX), s.u32(0))), low }
}

fn product(s: &Steps, a: &Words, b: &Words) -> Words {
    let crossed = a.low.clone() * b.high.clone() + a.high.clone() * b.low.clone();
    Words {
        high: s.name("high", crossed + s.high_product(&a.low, &b.low)),
        low: s.name("low", a.low.clone() * b.low.clone()),
    }
}

fn sum(s: &Steps, a: &Words, b: &Words) -> Words {
    let low = s.name("low", a.low.clone() + b.low.clone());
    let wraps = Expr::compare(CompareOp::Lt, low.clone(), a.low.clone());
    let carry = Expr::select(wraps, s.u32(1), s.u32(0));
    Words { high: s.name("high", a.high.clone() + b.high.clone() + carry), low }
}

/// A count of digits below 64: whether it is one of 32 and more, and the rest.
fn count(s: &Steps, count: &Expr) -> (Expr, Expr) {
    let count = s.name("count", count.clone().cast(s.u32(0).dtype));
    let is_long = Expr::compare(CompareOp::Ne, and(count.clone(), s.u32(32)), s.u32(0));
    (s.name("is_long", is_long), s.name("count", and(count, s.u32(31))))
}

fn to_left(s: &Steps, a: &Words, by: &Expr) -> Words {
    let (is_long, by) = count(s, by);
    let low = s.name("low", shl(a.low.clone(), by.clone()));
    let high = Expr::select(is_long.clone(), low.clone(), s.moved(&a.high, &a.low, &by));
    Words { high: s.name("high", high), low: s.name("low", Expr::select(is_long, s.u32(0), low)) }
}

/// The lower word of what is moved to the right, the sign kept.
fn to_right(s: &Steps, a: &Words, by: &Expr) -> Expr {
    let (is_long, by) = count(s, by);
    let signed = s.name("signed", a.high.clone().cast(s.i32(0).dtype));
    let far = shr(signed, by.clone().cast(s.i32(0).dtype)).cast(s.u32(0).dtype);
    let over = shl(shl(a.high.clone(), s.u32(1)), s.u32(31) - by.clone());
    Expr::select(is_long, far, or(shr(a.low.clone(), by), over))
}

/// Half of 2^count, 0 for a count of 0.
fn half(s: &Steps, by: &Expr) -> Words {
    let one = Words { high: s.u32(0), low: s.u32(1) };
    let power = to_left(s, &one, by);
    let from_high = shl(power.high.clone(), s.u32(31));
    let low = s.name("low", or(shr(power.low, s.u32(1)), from_high));
    Words { high: s.name("high", shr(power.high, s.u32(1))), low }
}

/// (x · 2^left · y + 2^(right - 1)) >> right of int32, modulo 2^64 on the way.
pub(super) fn multiply_shift(x: &Expr, y: &Expr, left: Option<Expr>, right: Expr) -> Expr {
    narrow([x, y], |s, [x, y]| {
        let factor = match &left {
            Some(left) => to_left(s, &extended(s, &x), left),
            None => extended(s, &x),
        };
        let right = s.name("right", right);
        let rounded = sum(s, &product(s, &factor, &extended(s, &y)), &half(s, &right));
        to_right(s, &rounded, &right).cast(x.dtype)
    })
}
