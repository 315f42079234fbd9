//! Hyperbolic functions and their inverses.

use chipdock_ir::Expr;

use super::super::exp::half_exp;
use super::super::kit::{Steps, abs, copysign, div, plain, sqrt};
use super::super::log::{log_double, log1p_double};
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

/// The logarithm of 2x, for a large x.
fn log_of_twice(s: &Steps, x: &Expr) -> Expr {
    log_double(x) + s.f64(std::f64::consts::LN_2)
}

/// `asinh`: ln(a + √(a² + 1)), as log1p of the part above 1.
pub(crate) fn asinh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let square = s.name("square", a.clone() * a.clone());
        let above = a.clone() + div(square.clone(), s.f64(1.0) + sqrt(&(square + s.f64(1.0))));
        let near = log1p_double(&s.name("above", above));
        copysign(s.if_less(&a, LARGE, near, log_of_twice(s, &a)), &x)
    })
}

/// `acosh`: ln(x + √(x² - 1)), as log1p of the part above 1.
pub(crate) fn acosh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let above = s.name("above", x.clone() - s.f64(1.0));
        let sum = above.clone() + sqrt(&(above.clone() * (x.clone() + s.f64(1.0))));
        let near = log1p_double(&s.name("sum", sum));
        let value = s.if_less(&x, LARGE, near, log_of_twice(s, &x));
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
