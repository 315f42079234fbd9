//! Exponentials, hyperbolic functions and the error function.

use chipdock_ir::Expr;

use super::super::float::polynomial;
use super::super::kit::{Steps, abs, div, min, plain, shl, shr};
use super::super::narrow::{clamp, if_less};
use super::{MAGIC, bits, coefficients as c, of_bits, with_sign};

/// ln 2: 9 digits, and the rest.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// log10 2: 11 digits, and the rest.
const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);
/// Twice, and once, what is added to an exponent in the bits of a float32.
const TWO_BIASES: f32 = MAGIC + 254.0;
const BIAS: f32 = MAGIC + 127.0;

/// x = n · step + r, where the step has two parts, the first of which gives exact products: the sum
/// of n and `magic`, and r.
fn split(s: &Steps, x: &Expr, per_step: f32, step: (f32, f32), magic: f32) -> (Expr, Expr) {
    let shifted = s.name("shifted", x.clone() * s.f32(per_step) + s.f32(magic));
    let whole = s.name("whole", shifted.clone() - s.f32(magic));
    let high = s.name("high", x.clone() - whole.clone() * s.f32(step.0));
    (shifted, s.name("r", high - whole * s.f32(step.1)))
}

/// A value near 1 times 2^n, given the sum of n and [`TWO_BIASES`], in two steps, so that neither
/// overflows before the result does, and a subnormal result is rounded once.
fn scaled(s: &Steps, value: Expr, shifted: &Expr) -> Expr {
    let both = s.name("both", bits(shifted));
    let half = s.name("half", shr(both.clone(), s.u32(1)));
    let power = |exponent: Expr| of_bits(shl(exponent, s.u32(23)));
    value * power(half.clone()) * power(both - half)
}

/// e^x, for an x from -104 to 89.
fn bounded(s: &Steps, x: &Expr) -> Expr {
    let (shifted, r) = split(s, x, std::f32::consts::LOG2_E, LN_2, TWO_BIASES);
    scaled(s, s.f32(1.0) + r.clone() * polynomial(&r, c::EXP), &shifted)
}

/// `exp`. Past 89 the result is infinite, below -104 it is 0.
pub(crate) fn exp(x: &Expr) -> Expr {
    plain([x], |s, [x]| bounded(s, &clamp(s, &x, -104.0, 89.0)))
}

/// `exp2`.
pub(crate) fn exp2(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let x = clamp(s, &x, -151.0, 129.0);
        let shifted = s.name("shifted", x.clone() + s.f32(TWO_BIASES));
        let whole = shifted.clone() - s.f32(TWO_BIASES);
        let r = s.name("r", x - whole);
        scaled(s, s.f32(1.0) + r.clone() * polynomial(&r, c::EXP2), &shifted)
    })
}

/// `exp10`.
pub(crate) fn exp10(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let x = clamp(s, &x, -46.0, 39.0);
        let (shifted, r) = split(s, &x, std::f32::consts::LOG2_10, LOG10_2, TWO_BIASES);
        scaled(s, s.f32(1.0) + r.clone() * polynomial(&r, c::EXP10), &shifted)
    })
}

/// `sigmoid`: e^x / (1 + e^x). From 40 on the quotient is 1.
pub(crate) fn sigmoid(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let power = s.name("power", bounded(s, &clamp(s, &x, -104.0, 40.0)));
        div(power.clone(), s.f32(1.0) + power)
    })
}

/// e^x - 1, for an x from 0 to 88.
fn less_one(s: &Steps, x: &Expr) -> Expr {
    let (shifted, r) = split(s, x, std::f32::consts::LOG2_E, LN_2, BIAS);
    let near = s.name("near", r.clone() + r.clone() * r.clone() * polynomial(&r, c::EXPM1));
    let power = s.name("power", of_bits(shl(bits(&shifted), s.u32(23))));
    s.name("above", power.clone() * near + (power - s.f32(1.0)))
}

/// `tanh`: m / (m + 2), where m = e^2a - 1. From 9.02 on the quotient is 1.
pub(crate) fn tanh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", min(s.f32(9.5), abs(&x)));
        let above = less_one(s, &s.name("twice", a.clone() + a));
        with_sign(s, &s.name("value", div(above.clone(), above + s.f32(2.0))), &x)
    })
}

/// `erf`: a polynomial below 5/4; above, 1 less the eighth power of a polynomial, up to 4, where
/// the result is 1.
pub(crate) fn erf(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", min(s.f32(4.0), abs(&x)));
        let square = s.name("square", a.clone() * a.clone());
        let near = a.clone() + a.clone() * polynomial(&square, c::ERF_NEAR);
        let squared = |power: Expr| {
            let power = s.name("power", power);
            power.clone() * power
        };
        let far = s.f32(1.0) - squared(squared(squared(polynomial(&a, c::ERF_FAR))));
        with_sign(s, &s.name("value", if_less(s, &a, 1.25, near, far)), &x)
    })
}
