//! Quotients and remainders, computed by divisions of 32 bits.

use chipdock_ir::{CompareOp, Expr, Op};

use super::{
    Words, choice, difference, is_negative, is_zero, magnitude, negated, one_if, product, sum, to_left,
};
use crate::types::lower_intrinsics::kit::{Steps, and, div, less, or, shl, shr};
use crate::types::words::{compare, constant};

/// The part of a division that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotient {
    /// The quotient.
    Whole,
    /// The remainder.
    Rest,
}

/// The quotient or the remainder, rounded toward zero or down; `x / 0` is x and `x % 0` is 0.
pub(crate) fn divide(
    s: &Steps,
    (a, b): (&Words, &Words),
    part: Quotient,
    is_signed: bool,
    rounds_down: bool,
) -> Words {
    let by_zero = s.name("by_zero", is_zero(s, b));
    let quotient = if is_signed {
        let quotient = unsigned_quotient(s, &magnitude(s, a), &magnitude(s, b));
        let turned = Expr::compare(CompareOp::Ne, is_negative(s, a), is_negative(s, b));
        choice(s, &s.name("turned", turned), &negated(s, &quotient), &quotient)
    } else {
        unsigned_quotient(s, a, b)
    };
    let rest = difference(s, a, &product(s, &quotient, b));
    let (quotient, rest) =
        if is_signed && rounds_down { rounded_down(s, &quotient, &rest, b) } else { (quotient, rest) };
    match part {
        Quotient::Whole => choice(s, &by_zero, a, &quotient),
        Quotient::Rest => choice(s, &by_zero, &constant(s, 0), &rest),
    }
}

/// Converts a quotient that was rounded toward zero, and its remainder, to those of rounding down.
fn rounded_down(s: &Steps, quotient: &Words, rest: &Words, b: &Words) -> (Words, Words) {
    let opposed = Expr::compare(CompareOp::Ne, is_negative(s, rest), is_negative(s, b));
    let is_above = Expr::select(is_zero(s, rest), Expr::int(0, opposed.dtype), opposed);
    let is_above = s.name("is_above", is_above);
    let less = difference(s, quotient, &constant(s, 1));
    (choice(s, &is_above, &less, quotient), choice(s, &is_above, &sum(s, rest, b), rest))
}

/// Number of leading zeros of a uint32, as uint32.
fn zeros(s: &Steps, word: &Expr) -> Expr {
    let dtype = s.i32(0).dtype;
    s.name("zeros", Expr::call(Op::Clz, vec![word.clone()], dtype).cast(word.dtype))
}

/// The quotient of unsigned integers, unspecified if `b` is 0 (Warren, Hacker's Delight, 9-5): for
/// a short divisor, digit by digit; for a long one, by its leading 32 digits, which gives at most
/// one too much.
fn unsigned_quotient(s: &Steps, a: &Words, b: &Words) -> Words {
    let is_short = s.name("is_short", Expr::compare(CompareOp::Eq, b.high.clone(), s.u32(0)));
    let first = s.name("first", div(a.high.clone(), b.low.clone()));
    let left = s.name("left", a.high.clone() - first.clone() * b.low.clone());
    let moved = s.name("moved", and(zeros(s, &b.high), s.u32(31)));
    let leading = to_left(s, b, &moved).high;
    let half_low = or(shr(a.low.clone(), s.u32(1)), shl(a.high.clone(), s.u32(31)));
    let either = |then: Expr, otherwise: Expr| Expr::select(is_short.clone(), then, otherwise);
    let high = s.name("high", either(left, shr(a.high.clone(), s.u32(1))));
    let low = s.name("low", either(a.low.clone(), half_low));
    let divisor = s.name("divisor", either(b.low.clone(), leading));
    let digits = short_quotient(s, &Words { high, low }, &divisor);
    let guess = s.name("guess", shr(digits.clone(), s.u32(31) - moved));
    let positive = one_if(s, Expr::compare(CompareOp::Ne, guess.clone(), s.u32(0)));
    let guess = Words { high: s.u32(0), low: s.name("guess", guess - positive) };
    let rest = difference(s, a, &product(s, &guess, b));
    let one_more = one_if(s, compare(CompareOp::Ge, &rest, b, false));
    let by_long = guess.low + one_more;
    Words { high: s.name("high", either(first, s.u32(0))), low: s.name("low", either(digits, by_long)) }
}

/// The quotient of a number whose upper word is less than the divisor (Hacker's Delight, 9-3): two
/// digits of 16 bits.
fn short_quotient(s: &Steps, a: &Words, divisor: &Expr) -> Expr {
    let moved = s.name("moved", and(zeros(s, divisor), s.u32(31)));
    let divisor = s.name("divisor", shl(divisor.clone(), moved.clone()));
    let over = s.moved(&a.high, &a.low, &moved);
    let low = s.name("low", shl(a.low.clone(), moved));
    let upper = s.name("upper", shr(low.clone(), s.u32(16)));
    let lower = s.name("lower", and(low, s.u32(0xffff)));
    let first = digit(s, &over, &upper, &divisor);
    let rest = shl(over, s.u32(16)) + upper - first.clone() * divisor.clone();
    let rest = s.name("rest", rest);
    let second = digit(s, &rest, &lower, &divisor);
    s.name("digits", shl(first, s.u32(16)) + second)
}

/// One digit of 16 bits, estimated from the leading half of the divisor, which gives at most two
/// too much.
fn digit(s: &Steps, over: &Expr, next: &Expr, divisor: &Expr) -> Expr {
    let upper = s.name("upper", shr(divisor.clone(), s.u32(16)));
    let lower = s.name("lower", and(divisor.clone(), s.u32(0xffff)));
    let mut digit = s.name("digit", div(over.clone(), upper.clone()));
    let mut rest = s.name("rest", over.clone() - digit.clone() * upper.clone());
    for _ in 0..2 {
        let past = less(shl(rest.clone(), s.u32(16)) + next.clone(), digit.clone() * lower.clone());
        let is_long = Expr::compare(CompareOp::Ge, digit.clone(), s.u32(0x1_0000));
        let excess = Expr::select(is_long.clone(), is_long, past);
        let in_reach = less(rest.clone(), s.u32(0x1_0000));
        let is_more = s.name("is_more", Expr::select(in_reach.clone(), excess, in_reach));
        rest = s.name("rest", rest + Expr::select(is_more.clone(), upper.clone(), s.u32(0)));
        digit = s.name("digit", digit - one_if(s, is_more));
    }
    digit
}
