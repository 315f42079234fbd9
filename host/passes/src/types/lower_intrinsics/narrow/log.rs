//! Logarithms, and the inverse hyperbolic functions.

use chipdock_ir::Expr;

use super::super::kit::{Steps, abs, and, copysign, div, equal, less, min, plain, shr, sqrt};
use super::{bits, coefficients as c, float, high, if_less, int, of_bits, polynomial};

/// The bits of 1.0 and of the square root of 1/2.
const ONE_BITS: u32 = 0x3f80_0000;
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
/// ln 2: 9 digits, and the rest.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// log10 2: 11 digits, and the rest.
const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);
/// 1 / ln 2: 12 digits, and the rest.
const INV_LN_2: (f32, f32) = (1.442_871_1, -1.760_528_5e-4);
/// 1 / ln 10: 12 digits, and the rest.
const INV_LN_10: (f32, f32) = (0.434_326_17, -3.168_997e-5);

/// A positive float32 as 2^k · (1 + f), 1 + f between the roots of 1/2 and 2: k as a float32, and
/// f.
fn parts(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let tiny = |then: Expr, otherwise: Expr| if_less(s, x, f32::MIN_POSITIVE, then, otherwise);
    let normal = s.name("normal", tiny(x.clone() * s.f32(33_554_432.0), x.clone()));
    let moved = s.name("moved", bits(&normal) + s.u32(ONE_BITS - SQRT_HALF_BITS));
    let exponent = int(s, shr(moved.clone(), s.u32(23))) - tiny(s.i32(127 + 25), s.i32(127));
    let m = of_bits(and(moved, s.u32(0x007f_ffff)) + s.u32(SQRT_HALF_BITS));
    (s.name("k", float(s, exponent)), s.name("f", m - s.f32(1.0)))
}

/// The logarithm if the argument is positive and finite, otherwise the special value.
fn settled(s: &Steps, x: &Expr, log: Expr) -> Expr {
    let positive = if_less(s, x, f32::INFINITY, log, x.clone());
    let zero = equal(x.clone(), s.f32(0.0));
    let other = Expr::select(zero, s.f32(f32::NEG_INFINITY), s.f32(f32::NAN));
    Expr::select(less(s.f32(0.0), x.clone()), positive, other)
}

/// The terms of ln(1 + f): f - (half - rest), where half = f² / 2.
fn terms(s: &Steps, f: &Expr) -> (Expr, Expr) {
    let half = s.name("half", s.f32(0.5) * f.clone() * f.clone());
    let quotient = s.name("quotient", div(f.clone(), f.clone() + s.f32(2.0)));
    let z = s.name("z", quotient.clone() * quotient.clone());
    let rest = s.name("rest", quotient * (half.clone() + z.clone() * polynomial(&z, c::LOG)));
    (half, rest)
}

/// k ln 2 + ln(1 + f) + c, where c is small.
fn natural(s: &Steps, k: &Expr, f: &Expr, c: Option<Expr>) -> Expr {
    let (half, rest) = terms(s, f);
    let low = k.clone() * s.f32(LN_2.1);
    let low = match c {
        Some(c) => low + c,
        None => low,
    };
    k.clone() * s.f32(LN_2.0) - ((half - (rest + low)) - f.clone())
}

/// `log`.
pub(crate) fn log(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        settled(s, &x, natural(s, &k, &f, None))
    })
}

/// ln(1 + f) in two parts times 1 / ln(base) in two parts: the larger product, exact, and the rest.
fn in_base(s: &Steps, f: &Expr, unit: (f32, f32)) -> (Expr, Expr) {
    let (half, rest) = terms(s, f);
    let high = high(s, &(f.clone() - half.clone()));
    let low = s.name("low", ((f.clone() - high.clone()) - half) + rest);
    let product = s.name("product", high.clone() * s.f32(unit.0));
    (product, (low.clone() + high) * s.f32(unit.1) + low * s.f32(unit.0))
}

/// `log2`.
pub(crate) fn log2(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        let (product, low) = in_base(s, &f, INV_LN_2);
        settled(s, &x, (low + product) + k)
    })
}

/// `log10`.
pub(crate) fn log10(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        let (product, low) = in_base(s, &f, INV_LN_10);
        settled(s, &x, ((k.clone() * s.f32(LOG10_2.1) + low) + product) + k * s.f32(LOG10_2.0))
    })
}

/// ln(1 + x) plus `more` times ln 2; for x below -1 a NaN, for -1 minus infinity.
fn log1p_of(s: &Steps, x: &Expr, more: Option<Expr>) -> Expr {
    let sum = s.name("sum", x.clone() + s.f32(1.0));
    // Near 1 the fraction is x itself. Elsewhere the sum is cut, by its bits, to so few digits that
    // the remainder is exact.
    let near = |then: Expr, otherwise: Expr| {
        let low = if_less(s, x, -0.292_893_2, otherwise.clone(), then);
        if_less(s, x, 0.414_213_57, low, otherwise)
    };
    let cut = high(s, &sum);
    let (k, f) = parts(s, &cut);
    let lack = s.name("lack", div(x.clone() - (cut.clone() - s.f32(1.0)), cut));
    let lack = s.name("lack", lack.clone() - s.f32(0.5) * lack.clone() * lack);
    let k = s.name("k", near(s.f32(0.0), k));
    let f = s.name("f", near(x.clone(), f));
    let lack = s.name("lack", near(s.f32(0.0), lack));
    let k = match more {
        Some(more) => s.name("k", k + more),
        None => k,
    };
    settled(s, &sum, natural(s, &k, &f, Some(lack)))
}

/// `log1p`.
pub(crate) fn log1p(x: &Expr) -> Expr {
    plain([x], |s, [x]| copysign(log1p_of(s, &x, None), &x))
}

/// Bound of a number before it is squared.
const SQUARED_MAX: f32 = 1.152_921_5e18;

/// Bound from which on √(a² ± 1) rounds to a.
const LARGE: f32 = 268_435_456.0;

/// ln(2a) if a is large, ln(1 + above) otherwise.
fn log_of_double(s: &Steps, a: &Expr, above: Expr) -> Expr {
    let argument = s.name("above", if_less(s, a, LARGE, above, a.clone()));
    let more = if_less(s, a, LARGE, s.f32(0.0), s.f32(1.0));
    log1p_of(s, &argument, Some(more))
}

/// `asinh`: ln(a + √(a² + 1)), as log1p of the part above 1.
pub(crate) fn asinh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let bounded = s.name("bounded", min(s.f32(SQUARED_MAX), a.clone()));
        let root = sqrt(&(bounded.clone() * bounded.clone() + s.f32(1.0)));
        let above = a.clone() + a.clone() * div(bounded, root + s.f32(1.0));
        copysign(log_of_double(s, &a, above), &x)
    })
}

/// `acosh`: ln(x + √(x² - 1)), as log1p of the part above 1.
pub(crate) fn acosh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let bounded = s.name("bounded", min(s.f32(SQUARED_MAX), x.clone()));
        let over = s.name("over", bounded.clone() - s.f32(1.0));
        let root = sqrt(&(over.clone() * (bounded + s.f32(1.0))));
        let log = log_of_double(s, &x, over + root);
        Expr::select(less(x, s.f32(1.0)), s.f32(f32::NAN), log)
    })
}

/// `atanh`: half of ln((1 + a) / (1 - a)), as log1p.
pub(crate) fn atanh(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let quotient = s.name("ratio", div(a.clone() + a.clone(), s.f32(1.0) - a));
        copysign(s.f32(0.5) * log1p_of(s, &quotient, None), &x)
    })
}
