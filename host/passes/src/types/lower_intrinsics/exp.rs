//! Exponentials and hyperbolic functions.

use chipdock_ir::{DType, Expr, Op};

use super::coefficients as c;
use super::kit::{MAGIC, Steps, TWO_52, abs, copysign, div, double, equal, less, min, single, unary};

/// 2^x to the precision of float32, for an x that leaves the result a normal float64.
pub(super) fn power_single(s: &Steps, x: &Expr) -> Expr {
    let shifted = s.name("shifted", x.clone() + s.f64(MAGIC));
    let r = s.name("r", x.clone() - (shifted.clone() - s.f64(MAGIC)));
    s.polynomial(&r, c::EXP2_SINGLE) * s.power_of_two(&shifted)
}

/// e^x to the precision of float32, for an x that leaves the result a normal float64.
fn e_single(s: &Steps, x: &Expr) -> Expr {
    let scaled = s.name("scaled", x.clone() * s.f64(std::f64::consts::LOG2_E));
    power_single(s, &scaled)
}

/// `exp` of float32. Past 90 the result is infinite, below -104 it is 0.
pub(super) fn exp_single(x: &Expr) -> Expr {
    single([x], |s, [x]| e_single(s, &s.clamp(&x, -110.0, 90.0)))
}

/// `tanh` of float32.
pub(super) fn tanh_single(x: &Expr) -> Expr {
    let wide = x.clone().cast(DType { bits: 64, ..x.dtype });
    tanh_double(&wide).cast(x.dtype)
}

/// `sigmoid` of float32: 1 / (1 + e^-x), which does not overflow in float64.
pub(super) fn sigmoid_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let power = e_single(s, &s.clamp(&(s.f64(-0.0) - x), -110.0, 150.0));
        div(s.f64(1.0), s.f64(1.0) + power)
    })
}

/// `rsqrt` of float32.
pub(super) fn rsqrt_single(x: &Expr) -> Expr {
    single([x], |s, [x]| div(s.f64(1.0), unary(Op::Sqrt, &x)))
}

/// `exp2` of float32. Past 129 the result is infinite, below -150 it is 0.
pub(super) fn exp2_single(x: &Expr) -> Expr {
    single([x], |s, [x]| power_single(s, &s.clamp(&x, -160.0, 129.0)))
}

/// `exp10` of float32.
pub(super) fn exp10_single(x: &Expr) -> Expr {
    single([x], |s, [x]| power_single(s, &s.clamp(&(x * s.f64(std::f64::consts::LOG2_10)), -160.0, 129.0)))
}

/// `sinh` of float32: a polynomial below 1, (e^x - e^-x) / 2 above.
pub(super) fn sinh_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", x.clone() * x.clone());
        let near = x.clone() * s.polynomial(&square, c::SINH_SINGLE);
        let power = s.name("power", e_single(s, &s.clamp(&a, 0.0, 100.0)));
        let far = (power.clone() - div(s.f64(1.0), power)) * s.f64(0.5);
        s.if_less(&a, 1.0, near, copysign(far, &x))
    })
}

/// `cosh` of float32: (e^x + e^-x) / 2.
pub(super) fn cosh_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let power = s.name("power", e_single(s, &s.clamp(&abs(&x), 0.0, 100.0)));
        (power.clone() + div(s.f64(1.0), power)) * s.f64(0.5)
    })
}

/// An exponent split into a whole number n of steps (with [`MAGIC`] added) and a remainder.
struct Split {
    whole: Expr,
    r: Expr,
}

/// x = n · step + r, where the step is the sum of two parts, the first of which has enough trailing
/// zeros for an exact product.
fn split(s: &Steps, x: &Expr, per_step: f64, step: (f64, f64)) -> Split {
    let shifted = s.name("shifted", x.clone() * s.f64(per_step) + s.f64(MAGIC));
    let whole = s.name("whole", shifted - s.f64(MAGIC));
    let high = s.name("high", x.clone() - whole.clone() * s.f64(step.0));
    let r = s.name("r", high - whole.clone() * s.f64(step.1));
    Split { whole, r }
}

/// A value near 1 times 2^n, in two steps, so that neither overflows before the result does, and a
/// subnormal result is rounded once.
fn scaled(s: &Steps, value: Expr, whole: &Expr) -> Expr {
    let half = s.name("half", whole.clone() * s.f64(0.5) + s.f64(MAGIC));
    let other = s.name("other", (whole.clone() - (half.clone() - s.f64(MAGIC))) + s.f64(MAGIC));
    value * s.power_of_two(&half) * s.power_of_two(&other)
}

fn near_one(s: &Steps, r: &Expr) -> Expr {
    s.f64(1.0) + (r.clone() + (r.clone() * r.clone()) * s.polynomial(r, c::EXP))
}

fn split_e(s: &Steps, x: &Expr) -> Split {
    split(s, x, std::f64::consts::LOG2_E, c::LN_2)
}

/// e^x of a float64 whose result is normal.
pub(super) fn exp_normal(s: &Steps, x: &Expr) -> Expr {
    let parts = split_e(s, x);
    let shifted = s.name("power", parts.whole + s.f64(MAGIC));
    near_one(s, &parts.r) * s.power_of_two(&shifted)
}

/// `exp` of float64.
pub(super) fn exp_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let parts = split_e(s, &s.clamp(&x, -746.0, 710.0));
        scaled(s, near_one(s, &parts.r), &parts.whole)
    })
}

/// `exp2` of float64.
pub(super) fn exp2_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let x = s.clamp(&x, -1076.0, 1025.0);
        let shifted = s.name("shifted", x.clone() + s.f64(MAGIC));
        let whole = s.name("whole", shifted - s.f64(MAGIC));
        let r = s.name("r", x - whole.clone());
        scaled(s, s.f64(1.0) + r.clone() * s.polynomial(&r, c::EXP2), &whole)
    })
}

/// `exp10` of float64.
pub(super) fn exp10_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let x = s.clamp(&x, -325.0, 309.0);
        let Split { whole, r } = split(s, &x, std::f64::consts::LOG2_10, c::LOG10_2);
        scaled(s, s.f64(1.0) + r.clone() * s.polynomial(&r, c::EXP10), &whole)
    })
}

/// `tanh` of float64: a polynomial below 5/8, 1 - 2 / (e^2x + 1) above.
pub(super) fn tanh_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", a.clone() * a.clone());
        let near = a.clone() + a.clone() * (square.clone() * s.polynomial(&square, c::TANH));
        let twice = s.clamp(&(a.clone() + a.clone()), 0.0, 80.0);
        let power = exp_normal(s, &twice);
        let far = s.f64(1.0) - div(s.f64(2.0), power + s.f64(1.0));
        copysign(s.if_less(&a, 0.625, near, far), &x)
    })
}

/// `pow` of float32: 2^(y log2 |x|) with the sign restored, and the special cases.
pub(super) fn pow_single(x: &Expr, y: &Expr) -> Expr {
    single([x, y], |s, [x, y]| {
        let a = s.name("a", abs(&x));
        let log = super::log::log2_single_of(s, &a);
        // 1 to any power, and any number to the power of 0, is 1, also for NaNs.
        let product = y.clone() * log;
        let zero = || s.f64(0.0);
        let settled = Expr::select(
            equal(a, s.f64(1.0)),
            zero(),
            Expr::select(equal(y.clone(), zero()), zero(), product),
        );
        let power = s.name("power", power_single(s, &s.clamp(&settled, -160.0, 129.0)));
        with_sign(s, &x, &y, &power)
    })
}

/// The distance from the nearest whole number to one that is not negative; of a NaN a NaN. `trunc`
/// would be a call on processors without that instruction.
fn fraction(s: &Steps, x: &Expr) -> Expr {
    let bounded = s.name("bounded", min(s.f64(TWO_52), x.clone()));
    let shifted = s.name("shifted", bounded.clone() + s.f64(TWO_52));
    s.name("fraction", (shifted - s.f64(TWO_52)) - bounded)
}

/// |x|^y with the sign of x^y: an odd power has the sign of x, and a fractional power of a negative number is a NaN.
pub(super) fn with_sign(s: &Steps, x: &Expr, y: &Expr, power: &Expr) -> Expr {
    let size = s.name("size", abs(y));
    // A half of an odd number, and of no other, is a half away from a whole one.
    let of_half = fraction(s, &(size.clone() * s.f64(0.5)));
    let sign = Expr::select(equal(abs(&of_half), s.f64(0.5)), x.clone(), s.f64(1.0));
    let signed = s.name("signed", copysign(power.clone(), &sign));
    // One selection of the result: gcc vectorizes no nest of them.
    let zero = || s.f64(0.0);
    let finite = Expr::select(less(s.f64(f64::NEG_INFINITY), x.clone()), fraction(s, &size), zero());
    let lost = s.if_less(x, 0.0, finite, zero());
    Expr::select(equal(lost, zero()), signed, s.f64(f64::NAN))
}

/// e^x / 2 of a float64 that is not negative; infinite only if it is more than the largest number.
pub(super) fn half_exp(s: &Steps, x: &Expr) -> Expr {
    let parts = split_e(s, &s.clamp(x, 0.0, 712.0));
    let whole = s.name("whole", parts.whole - s.f64(1.0));
    scaled(s, near_one(s, &parts.r), &whole)
}

/// e^(high + low), where low is small beside high.
pub(super) fn exp_of_pair(s: &Steps, high: &Expr, low: &Expr) -> Expr {
    let clamped = s.clamp(high, -746.0, 710.0);
    let parts = split_e(s, &clamped);
    let rest = Expr::select(equal(clamped, high.clone()), low.clone(), s.f64(0.0));
    let r = s.name("r", parts.r + rest);
    scaled(s, near_one(s, &r), &parts.whole)
}
