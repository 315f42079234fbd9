//! Circular functions.

use chipdock_ir::{BinaryOp, Expr};

use super::super::kit::{Steps, TWO_52, abs, and, div, equal, less, or, pair, plain, shl, shr};
use super::coefficients as c;
use super::pair::{product, quick_sum};

/// What half of π is beyond its float64.
const HALF_PI_REST: f64 = 6.123_233_995_736_766e-17;

/// An angle of at most about π / 4, in two parts, and the number of quarter turns before it, modulo
/// 4.
struct Angle {
    high: Expr,
    low: Expr,
    turns: Expr,
}

/// The 192 digits of 2 / π that a number of the exponent in the upper digits of `bits` needs, in
/// words: those of lesser place make multiples of 4 in the product, those of higher place nothing.
fn digits(s: &Steps, bits: &Expr) -> [Expr; 3] {
    // Numbers below 1/2 do not come here; the exponent of 1/2 is 1022, and its first digit the
    // tenth of the table.
    let exponent = Expr::binary(BinaryOp::Max, shr(bits.clone(), s.u64(52)), s.u64(1022));
    let place = s.name("place", exponent - s.u64(1013));
    let (word, count) =
        (s.name("word", shr(place.clone(), s.u64(6))), s.name("count", and(place, s.u64(63))));
    let mut row: Vec<Expr> = c::TWO_OVER_PI.iter().map(|digits| s.u64(*digits)).collect();
    // Masks in place of selections: compilers turn many by one condition into branches.
    for bit in [4, 3, 2, 1, 0] {
        let step = 1_usize << bit;
        let moves = and(shr(word.clone(), s.u64(bit)), s.u64(1));
        let mask = s.name("mask", Expr::binary(BinaryOp::Sub, s.u64(0), moves));
        let moved = |index: usize| {
            let here = row[index].clone();
            match row.get(index + step) {
                Some(there) => {
                    let change = and(xor(here.clone(), there.clone()), mask.clone());
                    s.name("digits", xor(here, change))
                }
                None => here,
            }
        };
        row = (0..row.len().min(step + 3)).map(moved).collect();
    }
    std::array::from_fn(|index| s.moved(&row[index], &row[index + 1], &count))
}

/// An integer below 2^52 as a float64.
fn whole(s: &Steps, integer: Expr) -> Expr {
    s.of_bits(or(integer, s.u64(TWO_52.to_bits()))) - s.f64(TWO_52)
}

/// Reduces a finite |x| by whole quarter turns, by the method of M. Payne and R. Hanek (1983): 53
/// digits of x times 192 of 2 / π, of which the upper 128 are exact but for the last. No float64 is
/// nearer to a multiple of π / 2 than 2^-62.
fn quarter_turns(s: &Steps, x: &Expr) -> Angle {
    let bits = s.name("bits", s.bits(x));
    let border = s.f64(std::f64::consts::FRAC_PI_4);
    let near = s.name("near", Expr::select(less(x.clone(), border), s.u64(u64::MAX), s.u64(0)));
    let far = s.name("far", xor(near.clone(), s.u64(u64::MAX)));
    let mantissa = or(and(bits.clone(), s.u64((1 << 52) - 1)), s.u64(1 << 52));
    let mantissa = s.name("mantissa", mantissa);
    let [first, second, third] = digits(s, &bits);
    let added = s.name("added", mantissa.clone() * second.clone());
    let low = s.name("low", added.clone() + s.high_product(&mantissa, &third));
    let carry = Expr::select(less(low.clone(), added), s.u64(1), s.u64(0));
    let high = mantissa.clone() * first + s.high_product(&mantissa, &second) + carry;
    let high = s.name("high", high);
    let turns = s.name("turns", shr(high.clone() + s.u64(1 << 61), s.u64(62)));
    // The fraction, from -1/2 to 1/2, with its sign in the first digit; a magnitude and a sign.
    let signed = s.name("signed", high - shl(turns.clone(), s.u64(62)));
    let sign = s.name("sign", and(signed.clone(), s.u64(1 << 63)));
    let mask = s.name("mask", Expr::select(equal(sign.clone(), s.u64(0)), s.u64(0), s.u64(u64::MAX)));
    let (upper, lower) = (s.name("upper", xor(signed, mask.clone())), s.name("lower", xor(low, mask)));
    let (high, low) = radians(s, &upper, &lower);
    let signed_high = and(xor(s.bits(&high), sign.clone()), far.clone());
    Angle {
        high: s.name("r", s.of_bits(or(signed_high, and(bits, near)))),
        low: s.name("low", s.of_bits(and(xor(s.bits(&low), sign), far.clone()))),
        turns: s.name("turns", and(turns, far)),
    }
}

/// A fraction of quarter turns, in units of 2^-126 and two words, as radians in two parts.
fn radians(s: &Steps, upper: &Expr, lower: &Expr) -> (Expr, Expr) {
    let part = |word: &Expr, is_upper: bool, place: i32| {
        let digits =
            if is_upper { shr(word.clone(), s.u64(32)) } else { and(word.clone(), s.u64(0xffff_ffff)) };
        s.name("part", whole(s, digits) * s.f64(2.0_f64.powi(place)))
    };
    let tail = s.name("tail", part(lower, true, -94) + part(lower, false, -126));
    let (middle, lost) = quick_sum(s, &part(upper, false, -62), &tail);
    let (turn, rest) = quick_sum(s, &part(upper, true, -30), &middle);
    let rest = s.name("rest", rest + lost);
    let half_pi = s.f64(std::f64::consts::FRAC_PI_2);
    let (high, low) = product(s, &turn, &half_pi);
    let low = low + (turn * s.f64(HALF_PI_REST) + rest * half_pi);
    quick_sum(s, &high, &s.name("low", low))
}

fn xor(a: Expr, b: Expr) -> Expr {
    pair(chipdock_ir::Op::BitwiseXor, a, b)
}

fn sine(s: &Steps, angle: &Angle, square: &Expr) -> Expr {
    let r = angle.high.clone();
    r.clone() + (r * (square.clone() * s.polynomial(square, c::SIN)) + angle.low.clone())
}

fn cosine(s: &Steps, angle: &Angle, square: &Expr) -> Expr {
    let half = s.name("half", square.clone() * s.f64(0.5));
    let most = s.name("most", s.f64(1.0) - half.clone());
    let lost = (s.f64(1.0) - most.clone()) - half;
    let rest = square.clone() * square.clone() * s.polynomial(square, c::COS)
        - angle.high.clone() * angle.low.clone();
    most + (lost + rest)
}

fn is_even(s: &Steps, turns: &Expr) -> Expr {
    equal(and(turns.clone(), s.u64(1)), s.u64(0))
}

fn finite(s: &Steps, x: &Expr, value: Expr) -> Expr {
    s.if_less(x, f64::INFINITY, value, s.f64(f64::NAN))
}

/// The sine of x plus `quarters` (0 or 1) quarter turns.
pub(crate) fn wave(x: &Expr, quarters: u64) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let angle = quarter_turns(s, &a);
        let turns = angle.turns.clone();
        let turns = if quarters == 0 { turns } else { s.name("turns", turns + s.u64(quarters)) };
        let square = s.name("square", angle.high.clone() * angle.high.clone());
        let value = Expr::select(is_even(s, &turns), sine(s, &angle, &square), cosine(s, &angle, &square));
        // Half a turn changes the sign; for a sine, so does the sign of x.
        let sign = shl(and(turns, s.u64(2)), s.u64(62));
        let sign = if quarters == 0 { xor(sign, and(s.bits(&x), s.u64(1 << 63))) } else { sign };
        finite(s, &a, s.of_bits(xor(s.bits(&value), sign)))
    })
}

/// `tan`.
pub(crate) fn tan(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let angle = quarter_turns(s, &a);
        let square = s.name("square", angle.high.clone() * angle.high.clone());
        let sine = s.name("sine", sine(s, &angle, &square));
        let cosine = s.name("cosine", cosine(s, &angle, &square));
        let even = s.name("even", is_even(s, &angle.turns));
        let over = Expr::select(even.clone(), sine.clone(), cosine.clone());
        let under = Expr::select(even, cosine, sine);
        let sign = xor(shl(and(angle.turns, s.u64(1)), s.u64(63)), and(s.bits(&x), s.u64(1 << 63)));
        finite(s, &a, s.of_bits(xor(s.bits(&div(over, under)), sign)))
    })
}
