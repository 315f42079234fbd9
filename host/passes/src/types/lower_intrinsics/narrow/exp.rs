//! Exponentials, hyperbolic functions and the error function.

use chipdock_ir::{DType, Expr, Op};

use super::super::float::exp_near_zero;
use super::super::kit::{Steps, abs, copysign, div, max, min, plain, shl, shr, unary};
use super::{clamp, coefficients as c, if_less, int, of_bits, polynomial};

/// ln 2: 9 digits, and the rest.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// log10 2: 11 digits, and the rest.
const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);

/// The nearest integer. Adding and subtracting a constant would not do: a device may drop such a
/// pair.
pub(super) fn whole(s: &Steps, x: &Expr) -> Expr {
    s.name("whole", unary(Op::Nearbyint, x))
}

/// 2^n of an int32 that makes a normal float32.
fn power_of_two(s: &Steps, n: Expr) -> Expr {
    of_bits(shl(n + s.i32(127), s.i32(23)))
}

/// A value near 1 times 2^whole, in two steps, so that neither overflows before the result does,
/// and a subnormal result is rounded once.
pub(super) fn scaled(s: &Steps, value: Expr, whole: &Expr) -> Expr {
    let n = s.name("n", int(s, whole.clone()));
    let half = s.name("half", shr(n.clone(), s.i32(1)));
    value * power_of_two(s, half.clone()) * power_of_two(s, n - half)
}

/// x - whole · step, where the step is the sum of two parts, the first of which gives an exact
/// product.
fn rest(s: &Steps, x: &Expr, whole: &Expr, step: (f32, f32)) -> Expr {
    let high = s.name("high", x.clone() - whole.clone() * s.f32(step.0));
    s.name("r", high - whole.clone() * s.f32(step.1))
}

/// e^x · 2^more, for an x between -104 and 100.
fn power_of_e(s: &Steps, x: &Expr, more: f32) -> Expr {
    let steps = whole(s, &(x.clone() * s.f32(std::f32::consts::LOG2_E)));
    let r = rest(s, x, &steps, LN_2);
    let steps = if more == 0.0 { steps } else { steps + s.f32(more) };
    scaled(s, exp_near_zero(&r), &steps)
}

/// `exp`. Past 89 the result is infinite, below -104 it is 0.
pub(crate) fn exp(x: &Expr) -> Expr {
    plain([x], |s, [x]| power_of_e(s, &clamp(s, &x, -104.0, 89.0), 0.0))
}

/// 2^(whole + r), for |r| up to 1/2.
pub(super) fn power_of_2(s: &Steps, whole: &Expr, r: &Expr) -> Expr {
    scaled(s, s.f32(1.0) + r.clone() * polynomial(r, c::EXP2), whole)
}

/// `exp2`.
pub(crate) fn exp2(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let x = clamp(s, &x, -151.0, 129.0);
        let steps = whole(s, &x);
        let r = s.name("r", x - steps.clone());
        power_of_2(s, &steps, &r)
    })
}

/// `exp10`.
pub(crate) fn exp10(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let x = clamp(s, &x, -46.0, 39.0);
        let steps = whole(s, &(x.clone() * s.f32(std::f32::consts::LOG2_10)));
        let r = rest(s, &x, &steps, LOG10_2);
        scaled(s, s.f32(1.0) + r.clone() * polynomial(&r, c::EXP10), &steps)
    })
}

/// e^|x| / 2, and a quarter of its inverse, e^-|x| / 2.
fn halves(s: &Steps, a: &Expr) -> (Expr, Expr) {
    let half = s.name("grown", power_of_e(s, &clamp(s, a, 0.0, 91.0), -1.0));
    (half.clone(), div(s.f32(0.25), half))
}

/// `sinh`: a polynomial below 1, (e^x - e^-x) / 2 above.
pub(crate) fn sinh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", x.clone() * x.clone());
        let near = x.clone() + x.clone() * (square.clone() * polynomial(&square, c::SINH));
        let (up, down) = halves(s, &a);
        if_less(s, &a, 1.0, near, copysign(up - down, &x))
    })
}

/// `cosh`: (e^x + e^-x) / 2.
pub(crate) fn cosh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (up, down) = halves(s, &abs(&x));
        up + down
    })
}

/// `erf`: a polynomial below 1; above, 1 less a power of 2 whose exponent is a polynomial, up to 4,
/// where the result is 1.
pub(crate) fn erf(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", min(s.f32(4.0), abs(&x)));
        let square = s.name("square", a.clone() * a.clone());
        let near = x.clone() + x.clone() * polynomial(&square, c::ERF_NEAR);
        let exponent = clamp(s, &polynomial(&a, c::ERF_FAR), -30.0, 1.0);
        let steps = whole(s, &exponent);
        let r = s.name("r", exponent - steps.clone());
        let far = s.f32(1.0) - power_of_2(s, &steps, &r);
        if_less(s, &a, 1.0, near, copysign(far, &x))
    })
}

/// `ldexp`: three powers, of which only the last may round, overflow or give a subnormal number.
pub(crate) fn ldexp(x: &Expr, n: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let bounded = |n: Expr, low: i128, high: i128| {
            let bound = |value: i128| Expr::int(value, n.dtype);
            min(max(n.clone(), bound(low)), bound(high))
        };
        let n = s.name("n", bounded(n.clone(), -290, 290).cast(DType::INT32.with_lanes(n.dtype.lanes)));
        let last = s.name("last", bounded(n.clone(), -126, 127));
        let others = s.name("others", n - last.clone());
        let second = s.name("second", bounded(others.clone(), -126, 127));
        let first = power_of_two(s, others - second.clone());
        x * first * power_of_two(s, second) * power_of_two(s, last)
    })
}
