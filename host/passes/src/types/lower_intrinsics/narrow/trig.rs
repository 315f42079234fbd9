//! Circular functions.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op};

use super::super::kit::{Steps, abs, and, div, equal, or, pair, plain, shl, shr};
use super::{bits, coefficients as c, float, if_less, int, of_bits, polynomial};

/// 2 / pi in words of 32 binary digits, one word before the point.
const TWO_OVER_PI: [u32; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];
/// pi / 2 · 2^31.
const HALF_PI: u32 = 0xc90f_daa2;
/// The bits of pi / 4, rounded up.
const QUARTER_PI_BITS: u32 = 0x3f49_0fdb;

fn xor(a: Expr, b: Expr) -> Expr {
    pair(Op::BitwiseXor, a, b)
}

fn below(a: Expr, b: Expr) -> Expr {
    Expr::compare(CompareOp::Lt, a, b)
}

/// Reduces a finite |x| by whole quarter turns: the remaining angle in radians, at most pi / 4 in
/// magnitude, and the number of quarter turns, modulo 4.
///
/// The product of the 24 digits of x and those 96 digits of 2 / pi that make a fraction or a unit
/// below 4; its upper 64 digits are right except the last (M. Payne, R. Hanek, 1983). No float32 is
/// nearer to a multiple of pi / 2 than 2^-30 of a quarter turn, so that 32 digits of the fraction
/// are significant.
fn quarter_turns(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let of_x = s.name("bits", bits(x));
    let near = s.name("near", below(of_x.clone(), s.u32(QUARTER_PI_BITS)));
    let mantissa = or(and(of_x.clone(), s.u32(0x007f_ffff)), s.u32(0x0080_0000));
    let mantissa = s.name("mantissa", mantissa);
    // Number of digits before the first significant one; unused for an x that is near.
    let exponent = shr(of_x, s.u32(23));
    let place = Expr::binary(BinaryOp::Max, exponent, s.u32(126)) - s.u32(120);
    let place = s.name("place", Expr::binary(BinaryOp::Min, place, s.u32(135)));
    let (word, count) =
        (s.name("word", shr(place.clone(), s.u32(5))), s.name("count", and(place, s.u32(31))));
    let window: Vec<Expr> = (0..4)
        .map(|from| {
            let last = s.u32(TWO_OVER_PI[from + 4]);
            let pick = |rest: Expr, index: u32| {
                let value = s.u32(TWO_OVER_PI[from + index as usize]);
                Expr::select(equal(word.clone(), s.u32(index)), value, rest)
            };
            s.name("digits", (0..4).rev().fold(last, pick))
        })
        .collect();
    let digits = |index: usize| s.moved(&window[index], &window[index + 1], &count);
    let (first, second, third) = (digits(0), digits(1), digits(2));
    let added = s.name("added", mantissa.clone() * second.clone());
    let low = s.name("low", added.clone() + s.high_product(&mantissa, &third));
    let carry = Expr::select(below(low.clone(), added), s.u32(1), s.u32(0));
    let high = mantissa.clone() * first + s.high_product(&mantissa, &second) + carry;
    let high = s.name("high", high);
    let turns = s.name("turns", shr(high.clone() + s.u32(1 << 29), s.u32(30)));
    // The fraction, from -1/2 to 1/2, with its sign in the first digit; a magnitude and a sign.
    let signed = s.name("signed", high - shl(turns.clone(), s.u32(30)));
    let sign = s.name("sign", and(signed.clone(), s.u32(1 << 31)));
    let mask = s.name("mask", Expr::select(equal(sign.clone(), s.u32(0)), s.u32(0), s.u32(u32::MAX)));
    let angle = radians(s, &s.name("upper", xor(signed, mask.clone())), &s.name("lower", xor(low, mask)));
    let angle = of_bits(or(bits(&angle), sign));
    let near_or = |then: Expr, otherwise: Expr| Expr::select(near.clone(), then, otherwise);
    (s.name("r", near_or(x.clone(), angle)), s.name("turns", near_or(s.u32(0), turns)))
}

/// A fraction of quarter turns, in units of 2^-62 and two words, as radians.
fn radians(s: &Steps, upper: &Expr, lower: &Expr) -> Expr {
    let small = s.name("small", equal(upper.clone(), s.u32(0)));
    let of_small = |then: Expr, otherwise: Expr| Expr::select(small.clone(), then, otherwise);
    let first = s.name("first", of_small(lower.clone(), upper.clone()));
    let second = s.name("second", of_small(s.u32(0), lower.clone()));
    let dtype = DType::INT32.with_lanes(first.dtype.lanes);
    let zeros = s.name("zeros", Expr::call(Op::Clz, vec![first.clone()], dtype));
    let count = zeros.clone().cast(first.dtype);
    let digits = s.moved(&first, &second, &s.name("count", count));
    let product = s.high_product(&digits, &s.u32(HALF_PI));
    // 24 digits, rounded here: the rounding of a conversion of more digits depends on the device.
    let value = float(s, int(s, shr(product + s.u32(128), s.u32(8))));
    // In units of 2^(8 + 1 - 30 - zeros).
    let exponent = of_small(s.i32(127 - 21 - 32), s.i32(127 - 21)) - zeros;
    value * of_bits(shl(exponent, s.i32(23)))
}

pub(crate) fn sine(r: &Expr, square: &Expr) -> Expr {
    r.clone() + r.clone() * (square.clone() * polynomial(square, c::SIN))
}

pub(crate) fn cosine(s: &Steps, square: &Expr) -> Expr {
    (s.f32(1.0) - s.f32(0.5) * square.clone()) + square.clone() * square.clone() * polynomial(square, c::COS)
}

fn is_even(s: &Steps, turns: &Expr) -> Expr {
    equal(and(turns.clone(), s.u32(1)), s.u32(0))
}

fn finite(s: &Steps, x: &Expr, value: Expr) -> Expr {
    if_less(s, x, f32::INFINITY, value, s.f32(f32::NAN))
}

/// The sine of x plus `quarters` (0 or 1) quarter turns.
pub(crate) fn wave(x: &Expr, quarters: u32) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let (r, turns) = quarter_turns(s, &a);
        let turns = if quarters == 0 { turns } else { s.name("turns", turns + s.u32(quarters)) };
        let square = s.name("square", r.clone() * r.clone());
        let value = Expr::select(is_even(s, &turns), sine(&r, &square), cosine(s, &square));
        // Half a turn changes the sign; for a sine, so does the sign of x.
        let sign = shl(and(turns, s.u32(2)), s.u32(30));
        let sign = if quarters == 0 { xor(sign, and(bits(&x), s.u32(1 << 31))) } else { sign };
        finite(s, &a, of_bits(xor(bits(&value), sign)))
    })
}

/// `tan`.
pub(crate) fn tan(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let (r, turns) = quarter_turns(s, &a);
        let square = s.name("square", r.clone() * r.clone());
        let (sine, cosine) = (s.name("sine", sine(&r, &square)), s.name("cosine", cosine(s, &square)));
        let even = s.name("even", is_even(s, &turns));
        let over = Expr::select(even.clone(), sine.clone(), cosine.clone());
        let under = Expr::select(even, cosine, sine);
        let sign = xor(shl(and(turns, s.u32(1)), s.u32(31)), and(bits(&x), s.u32(1 << 31)));
        finite(s, &a, of_bits(xor(bits(&div(over, under)), sign)))
    })
}
