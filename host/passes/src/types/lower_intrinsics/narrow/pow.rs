//! Powers.

use chipdock_ir::{Expr, Op};

use super::super::kit::{Steps, abs, and, copysign, div, equal, less, plain, shr, unary};
use super::{bits, clamp, float, high, if_less, int, of_bits, polynomial};

/// The bits of 1.0 and of half of the square root of 3.
const ONE_BITS: u32 = 0x3f80_0000;
const HALF_SQRT_3_BITS: u32 = 0x3f5d_b3d7;
/// log2(1.5): 12 digits, and the rest.
const LOG2_3_HALVES: (f32, f32) = (0.584_960_94, 1.563_220_8e-6);
/// 2 / (3 ln 2): 12 digits, the rest, and the whole.
const UNIT: (f32, f32, f32) = (0.961_914_06, -1.173_685_7e-4, 0.961_796_7);
/// (3 atanh(s) - 3 s - s^3) / s^5 by s^2.
const LOG: &[f32] = &[0.206_975_02, 0.230_660_75, 0.272_728_12, 0.333_333, 0.428_571_43, 0.6];

/// log2 of a positive normal or subnormal float32: the first 12 digits, and the remainder, to 30
/// digits in all.
///
/// The steps are those of FreeBSD's `powf` (Sun Microsystems, 1993): near 1 or 3/2, log2 m = log2 c
/// + 2 atanh(s) / ln 2 with s = (m - c) / (m + c).
fn log2(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let tiny = |then: Expr, otherwise: Expr| if_less(s, x, f32::MIN_POSITIVE, then, otherwise);
    let normal = s.name("normal", tiny(x.clone() * s.f32(33_554_432.0), x.clone()));
    let moved = s.name("moved", bits(&normal) + s.u32(ONE_BITS - HALF_SQRT_3_BITS));
    let exponent = int(s, shr(moved.clone(), s.u32(23))) - tiny(s.i32(127 + 25), s.i32(127));
    let k = s.name("k", float(s, exponent));
    let m = s.name("m", of_bits(and(moved, s.u32(0x007f_ffff)) + s.u32(HALF_SQRT_3_BITS)));
    let of_centre = |one: f32, more: f32| if_less(s, &m, 1.224_744_9, s.f32(one), s.f32(more));
    let centre = s.name("centre", of_centre(1.0, 1.5));

    let over = s.name("over", m.clone() - centre.clone());
    let inverse = s.name("inverse", div(s.f32(1.0), m.clone() + centre.clone()));
    let quotient = s.name("quotient", over.clone() * inverse.clone());
    let q_high = high(s, &quotient);
    let under_high = high(s, &(m.clone() + centre.clone()));
    let under_low = s.name("under", m.clone() - (under_high.clone() - centre));
    let q_low = inverse * ((over - q_high.clone() * under_high) - q_high.clone() * under_low);
    let q_low = s.name("q_low", q_low);

    let square = s.name("square", quotient.clone() * quotient.clone());
    let tail = square.clone() * square.clone() * polynomial(&square, LOG);
    let tail = s.name("tail", tail + q_low.clone() * (q_high.clone() + quotient.clone()));
    let square = s.name("square", q_high.clone() * q_high.clone());
    let factor = high(s, &(s.f32(3.0) + square.clone() + tail.clone()));
    let factor_low = s.name("factor", tail - ((factor.clone() - s.f32(3.0)) - square));
    // 3 ln(m / c) / 2 = large + small.
    let large = s.name("large", q_high * factor.clone());
    let small = s.name("small", q_low * factor + factor_low * quotient);
    let first = high(s, &(large.clone() + small.clone()));
    let second = s.name("second", small - (first.clone() - large));
    let z_high = s.name("z", first.clone() * s.f32(UNIT.0));
    let z_low = first * s.f32(UNIT.1) + second * s.f32(UNIT.2) + of_centre(0.0, LOG2_3_HALVES.1);
    let z_low = s.name("z_low", z_low);
    let of_c = s.name("of_c", of_centre(0.0, LOG2_3_HALVES.0));
    let head = high(s, &(((z_high.clone() + z_low.clone()) + of_c.clone()) + k.clone()));
    let low = z_low - (((head.clone() - k) - of_c) - z_high);
    (head, s.name("low", low))
}

/// a^y for a positive finite a and a y that is not a NaN.
fn of_positive(s: &Steps, a: &Expr, y: &Expr) -> Expr {
    let (head, low) = log2(s, a);
    // Beyond these bounds the result is 0, 1 or infinite; within them products stay finite.
    let y = clamp(s, y, -1.0e30, 1.0e30);
    let y_high = high(s, &y);
    let product = s.name("product", y_high.clone() * head.clone());
    let rest = s.name("rest", (y.clone() - y_high) * head + y * low);
    let exponent = s.name("exponent", product.clone() + rest.clone());
    let bounded = clamp(s, &exponent, -160.0, 129.0);
    let steps = super::exp::whole(s, &bounded);
    let is_bounded = equal(bounded, exponent);
    let r = Expr::select(is_bounded, (product - steps.clone()) + rest, s.f32(0.0));
    super::exp::power_of_2(s, &steps, &s.name("r", r))
}

/// `pow`: 2^(y log2 |x|) with the sign restored, and the special cases.
pub(crate) fn pow(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let a = s.name("a", abs(&x));
        let zero = || s.f32(0.0);
        let infinite = || s.f32(f32::INFINITY);
        let by_sign = |above: Expr, below: Expr| if_less(s, &y, 0.0, below, above);
        let power = of_positive(s, &a, &y);
        let power = Expr::select(equal(a.clone(), zero()), by_sign(zero(), infinite()), power);
        let power = Expr::select(equal(a.clone(), infinite()), by_sign(infinite(), zero()), power);
        // 1 to any power, and any number to the power of 0, is 1, also for NaNs.
        let both = x.clone() + y.clone();
        let number = equal(a.clone(), a.clone()).and(equal(y.clone(), y.clone()));
        let power = Expr::select(number, power, both);
        let is_one = equal(a, s.f32(1.0)).or(equal(y.clone(), zero()));
        let power = s.name("power", Expr::select(is_one, s.f32(1.0), power));
        let half = s.name("half", y.clone() * s.f32(0.5));
        let is_whole = |e: &Expr| equal(unary(Op::Trunc, e), e.clone());
        // An odd power has the sign of x, and a fractional power of a negative number is a NaN.
        let odd = Expr::select(is_whole(&y), copysign(power.clone(), &x), power.clone());
        let signed = s.name("signed", Expr::select(is_whole(&half), power, odd));
        let defined = Expr::select(is_whole(&y), signed.clone(), s.f32(f32::NAN));
        let finite = Expr::select(less(s.f32(f32::NEG_INFINITY), x.clone()), defined, signed.clone());
        if_less(s, &x, 0.0, finite, signed)
    })
}
