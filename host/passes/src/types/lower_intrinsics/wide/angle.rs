//! Inverse circular functions, and `hypot`.

use chipdock_ir::{BinaryOp, Expr};

use super::super::kit::{Steps, abs, copysign, div, equal, less, max, min, one_if_less, plain, sqrt};
use super::coefficients as c;

/// Pi, its half and its quarter: a float64, and what it lacks.
const PI: (f64, f64) = (std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
const QUARTER_PI: (f64, f64) = (std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17);

/// A constant in two parts minus a value.
fn less_value(s: &Steps, constant: (f64, f64), value: Expr) -> Expr {
    s.f64(constant.0) - (value - s.f64(constant.1))
}

/// The angle whose tangent is low / high, 0 ≤ low ≤ high < 2^1000; 0 for 0 / 0.
fn angle(s: &Steps, low: &Expr, high: &Expr) -> Expr {
    // Past the tangent of π/8, the angle from π/4 is taken.
    let border = s.name("border", high.clone() * s.f64(0.414_213_562_373_095));
    let far = s.name("far", one_if_less(&border, low));
    let over = low.clone() - far.clone() * high.clone();
    let under = max(s.f64(f64::MIN_POSITIVE), high.clone() + far.clone() * low.clone());
    let t = s.name("t", div(over, under));
    let square = s.name("square", t.clone() * t.clone());
    let rest =
        t.clone() * (square.clone() * s.polynomial(&square, c::ATAN)) + far.clone() * s.f64(QUARTER_PI.1);
    far * s.f64(QUARTER_PI.0) + (t + rest)
}

/// The angle, or π/2 minus the angle if `a` is greater than `b`.
fn complemented(s: &Steps, angle: Expr, a: &Expr, b: &Expr) -> Expr {
    let angle = s.name("angle", angle);
    let steep = less_value(s, HALF_PI, angle.clone());
    Expr::select(less(b.clone(), a.clone()), steep, angle)
}

/// `atan`.
pub(crate) fn atan(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", min(s.f64(2.0_f64.powi(999)), abs(&x)));
        let one = s.f64(1.0);
        let (low, high) =
            (s.name("low", min(one.clone(), a.clone())), s.name("high", max(one.clone(), a.clone())));
        let value = copysign(complemented(s, angle(s, &low, &high), &a, &one), &x);
        // Minimum and maximum drop a NaN.
        Expr::select(equal(x.clone(), x.clone()), value, x)
    })
}

/// `atan2`.
pub(crate) fn atan2(y: &Expr, x: &Expr) -> Expr {
    plain([y, x], |s, [y, x]| {
        let (a, b) = (s.name("a", abs(&y)), s.name("b", abs(&x)));
        let low = s.name("low", min(a.clone(), b.clone()));
        let high = s.name("high", max(a.clone(), b.clone()));
        // Scaled away from both ends, so that nothing overflows and a quotient keeps its precision;
        // infinities become 1 and 0.
        let scale = s.if_less(&high, 2.0_f64.powi(-900), s.f64(2.0_f64.powi(600)), s.f64(1.0));
        let scale = s.name("scale", s.if_less(&high, 2.0_f64.powi(900), scale, s.f64(2.0_f64.powi(-600))));
        let infinite = |e: &Expr| equal(e.clone(), s.f64(f64::INFINITY));
        let one_or_none = Expr::select(infinite(&low), s.f64(1.0), s.f64(0.0));
        let least = s.name("least", Expr::select(infinite(&high), one_or_none, low * scale.clone()));
        let most = s.name("most", Expr::select(infinite(&high), s.f64(1.0), high * scale));
        let right = s.name("right", complemented(s, angle(s, &least, &most), &a, &b));
        let left = less_value(s, PI, right.clone());
        let sign = copysign(s.f64(1.0), &x);
        let value = copysign(s.if_less(&sign, 0.0, left, right), &y);
        // Minimum and maximum drop a NaN.
        let sum = s.name("sum", a + b);
        Expr::select(equal(sum.clone(), sum.clone()), value, sum)
    })
}

/// asin(a) up to 1/2; above, half of π/2 - asin(a).
fn half_angle(s: &Steps, a: &Expr) -> Expr {
    let halved = (s.f64(1.0) - a.clone()) * s.f64(0.5);
    let square = s.name("square", if_far(s, a, halved, a.clone() * a.clone()));
    let sine = s.name("sine", if_far(s, a, sqrt(&square), a.clone()));
    s.name("half", sine.clone() + sine * (square.clone() * s.polynomial(&square, c::ASIN)))
}

fn if_far(s: &Steps, a: &Expr, far: Expr, near: Expr) -> Expr {
    Expr::select(less(s.f64(0.5), a.clone()), far, near)
}

/// `asin`.
pub(crate) fn asin(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let half = half_angle(s, &a);
        let rest = less_value(s, HALF_PI, half.clone() + half.clone());
        copysign(if_far(s, &a, rest, half), &x)
    })
}

/// `acos`.
pub(crate) fn acos(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let half = half_angle(s, &a);
        let twice = s.name("twice", half.clone() + half.clone());
        let outer = s.if_less(&x, 0.0, less_value(s, PI, twice.clone()), twice);
        if_far(s, &a, outer, less_value(s, HALF_PI, copysign(half, &x)))
    })
}

/// `hypot`, computed at a scale at which squares neither overflow nor underflow.
pub(crate) fn hypot(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let (a, b) = (s.name("a", abs(&x)), s.name("b", abs(&y)));
        let most = s.name("most", max(a.clone(), b.clone()));
        let up = s.if_less(&most, 2.0_f64.powi(-450), s.f64(2.0_f64.powi(600)), s.f64(1.0));
        let scale = s.name("scale", s.if_less(&most, 2.0_f64.powi(450), up, s.f64(2.0_f64.powi(-600))));
        let inverse = s.of_bits(Expr::binary(BinaryOp::Sub, s.u64(2046 << 52), s.bits(&scale)));
        let (p, q) = (s.name("p", a.clone() * scale.clone()), s.name("q", b.clone() * scale));
        let root = s.name("root", sqrt(&(p.clone() * p + q.clone() * q)) * inverse);
        let infinity = || s.f64(f64::INFINITY);
        let either = Expr::select(equal(b, infinity()), infinity(), root);
        Expr::select(equal(a, infinity()), infinity(), either)
    })
}
