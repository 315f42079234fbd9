//! The error function.

use chipdock_ir::Expr;

use super::coefficients as c;
use super::kit::{abs, copysign, double, min, single};

/// `erf` of float32: a polynomial below 1; above, 1 less a power of 2 whose exponent is a
/// polynomial, up to 4, where the result is 1.
pub(super) fn erf_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = s.name("a", min(s.f64(4.0), abs(&x)));
        let square = s.name("square", a.clone() * a.clone());
        let near = x.clone() * s.polynomial(&square, c::ERF_NEAR_SINGLE);
        let exponent = s.name("exponent", s.polynomial(&a, c::ERF_FAR_SINGLE));
        let far = s.f64(1.0) - super::exp::power_single(s, &exponent);
        s.if_less(&a, 1.0, near, copysign(far, &x))
    })
}

/// `erf` of float64: a polynomial below 1, another below 2; above, 1 less a power of e whose
/// exponent is a polynomial, up to 6, where the result is 1.
pub(super) fn erf_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let a = s.name("a", min(s.f64(6.0), abs(&x)));
        let square = s.name("square", a.clone() * a.clone());
        let near = x.clone() + x.clone() * s.polynomial(&square, c::ERF_NEAR);
        let t = s.name("t", a.clone() - s.f64(1.5));
        let middle = s.polynomial(&t, c::ERF_MIDDLE);
        let exponent = s.name("exponent", s.polynomial(&a, c::ERF_FAR));
        let far = s.f64(1.0) - super::exp::exp_normal(s, &exponent);
        let outer = copysign(s.if_less(&a, 2.0, middle, far), &x);
        s.if_less(&a, 1.0, near, outer)
    })
}
