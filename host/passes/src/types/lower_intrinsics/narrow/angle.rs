//! Inverse circular functions, and `hypot`.

use chipdock_ir::Expr;

use super::super::kit::{Steps, abs, copysign, div, equal, less, max, min, one_if_less, plain, sqrt};
use super::{coefficients as c, if_less, polynomial};

/// Pi and half of it: a float32, and its rounding error.
const PI: (f32, f32) = (std::f32::consts::PI, -8.742_278e-8);
const HALF_PI: (f32, f32) = (std::f32::consts::FRAC_PI_2, -4.371_139e-8);

/// A constant in two parts minus a value.
fn less_value(s: &Steps, constant: (f32, f32), value: Expr) -> Expr {
    s.f32(constant.0) - (value - s.f32(constant.1))
}

/// The angle whose tangent is low / high, 0 ≤ low ≤ high < 2^127; 0 for 0 / 0.
fn angle(s: &Steps, low: &Expr, high: &Expr) -> Expr {
    // Past the tangent of π/8, the angle from π/4 is taken.
    let border = s.name("border", high.clone() * s.f32(0.414_213_57));
    let far = s.name("far", one_if_less(&border, low));
    let over = low.clone() - far.clone() * high.clone();
    let under = max(s.f32(f32::MIN_POSITIVE), high.clone() + far.clone() * low.clone());
    let t = s.name("t", div(over, under));
    let square = s.name("square", t.clone() * t.clone());
    far * s.f32(std::f32::consts::FRAC_PI_4)
        + (t.clone() + t * (square.clone() * polynomial(&square, c::ATAN)))
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
        let a = s.name("a", min(s.f32(2.0_f32.powi(126)), abs(&x)));
        let one = s.f32(1.0);
        let (low, high) =
            (s.name("low", min(one.clone(), a.clone())), s.name("high", max(one.clone(), a.clone())));
        copysign(complemented(s, angle(s, &low, &high), &a, &one), &x)
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
        let scale = if_less(s, &high, 2.0_f32.powi(-90), s.f32(2.0_f32.powi(60)), s.f32(1.0));
        let scale = s.name("scale", if_less(s, &high, 2.0_f32.powi(90), scale, s.f32(2.0_f32.powi(-60))));
        let infinite = |e: &Expr| equal(e.clone(), s.f32(f32::INFINITY));
        let one_or_none = Expr::select(infinite(&low), s.f32(1.0), s.f32(0.0));
        let least = s.name("least", Expr::select(infinite(&high), one_or_none, low * scale.clone()));
        let most = s.name("most", Expr::select(infinite(&high), s.f32(1.0), high * scale));
        let right = s.name("right", complemented(s, angle(s, &least, &most), &a, &b));
        let left = less_value(s, PI, right.clone());
        let sign = copysign(s.f32(1.0), &x);
        let value = copysign(if_less(s, &sign, 0.0, left, right), &y);
        // Minimum and maximum drop a NaN.
        let number = equal(a.clone(), a).and(equal(b.clone(), b));
        Expr::select(number, value, y + x)
    })
}

/// asin(a) up to 1/2; above, half of π/2 - asin(a).
fn half_angle(s: &Steps, a: &Expr) -> Expr {
    let halved = (s.f32(1.0) - a.clone()) * s.f32(0.5);
    let square = s.name("square", if_far(s, a, halved, a.clone() * a.clone()));
    let sine = s.name("sine", if_far(s, a, sqrt(&square), a.clone()));
    s.name("half", sine.clone() + sine * (square.clone() * polynomial(&square, c::ASIN)))
}

fn if_far(s: &Steps, a: &Expr, far: Expr, near: Expr) -> Expr {
    Expr::select(less(s.f32(0.5), a.clone()), far, near)
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
        let outer = if_less(s, &x, 0.0, less_value(s, PI, twice.clone()), twice);
        if_far(s, &a, outer, less_value(s, HALF_PI, copysign(half, &x)))
    })
}

/// `hypot`, computed at a scale at which squares neither overflow nor underflow.
pub(crate) fn hypot(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let (a, b) = (s.name("a", abs(&x)), s.name("b", abs(&y)));
        let most = s.name("most", max(a.clone(), b.clone()));
        let by_size = |small: f32, large: f32| {
            let scale = if_less(s, &most, 2.0_f32.powi(-60), s.f32(small), s.f32(1.0));
            if_less(s, &most, 2.0_f32.powi(60), scale, s.f32(large))
        };
        let scale = s.name("scale", by_size(2.0_f32.powi(90), 2.0_f32.powi(-70)));
        let (p, q) = (s.name("p", a.clone() * scale.clone()), s.name("q", b.clone() * scale));
        let root = sqrt(&(p.clone() * p + q.clone() * q)) * by_size(2.0_f32.powi(-90), 2.0_f32.powi(70));
        let infinite = equal(a, s.f32(f32::INFINITY)).or(equal(b, s.f32(f32::INFINITY)));
        Expr::select(infinite, s.f32(f32::INFINITY), root)
    })
}
