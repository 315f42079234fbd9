//! Hyperbolic functions and their inverses.

use chipdock_ir::Expr;

use super::super::exp::half_exp;
use super::super::kit::{Steps, abs, copysign, div, plain, sqrt};
use super::super::log::log1p_double;
use super::coefficients as c;

/// Beyond this, the square of a number hides 1.
const LARGE: f64 = 268_435_456.0;

/// `sinh`: a polynomial below 1, (e^x - e^-x) / 2 above.
pub(crate) fn sinh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", a.clone() * a.clone());
        let near = a.clone() + a.clone() * (square.clone() * s.polynomial(&square, c::SINH));
        let half = s.name("power", half_exp(s, &a));
        let far = half.clone() - div(s.f64(0.25), half);
        copysign(s.if_less(&a, 1.0, near, far), &x)
    })
}

/// `cosh`: (e^x + e^-x) / 2.
pub(crate) fn cosh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let half = s.name("power", half_exp(s, &abs(&x)));
        half.clone() + div(s.f64(0.25), half)
    })
}

/// ln(1 + near) of an x below [`LARGE`], ln(2x) of others: one logarithm for both.
fn log_of_sum(s: &Steps, x: &Expr, near: Expr) -> Expr {
    let far = x.clone() - s.f64(1.0);
    let above = s.name("above", s.if_less(x, LARGE, near, far));
    log1p_double(&above) + s.if_less(x, LARGE, s.f64(0.0), s.f64(std::f64::consts::LN_2))
}

/// `asinh`: ln(a + √(a² + 1)), as log1p of the part above 1.
pub(crate) fn asinh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", a.clone() * a.clone());
        let above = a.clone() + div(square.clone(), s.f64(1.0) + sqrt(&(square + s.f64(1.0))));
        copysign(log_of_sum(s, &a, above), &x)
    })
}

/// `acosh`: ln(x + √(x² - 1)), as log1p of the part above 1.
pub(crate) fn acosh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let above = s.name("above", x.clone() - s.f64(1.0));
        let sum = above.clone() + sqrt(&(above * (x.clone() + s.f64(1.0))));
        let value = s.name("value", log_of_sum(s, &x, sum));
        s.if_less(&x, 1.0, s.f64(f64::NAN), value)
    })
}

/// `atanh`: half of ln((1 + a) / (1 - a)), as log1p.
pub(crate) fn atanh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let quotient = s.name("ratio", div(a.clone() + a.clone(), s.f64(1.0) - a));
        copysign(s.f64(0.5) * log1p_double(&quotient), &x)
    })
}
