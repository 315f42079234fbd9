//! Logarithms.

use chipdock_ir::Expr;

use super::coefficients as c;
use super::kit::{ONE_BITS, Steps, TWO_52, and, copysign, div, double, equal, less, shr, single};

/// The bits of the square root of 1/2.
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;

/// A positive normal float64 as 2^k · m, m between the roots of 1/2 and 2: k, and m.
fn parts(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let moved = s.name("moved", s.bits(x) + s.u64(ONE_BITS - SQRT_HALF_BITS));
    let exponent = shr(moved.clone(), s.u64(52));
    // An integer below 2^52 as the low bits of 2^52.
    let k = s.of_bits(exponent + s.u64(TWO_52.to_bits())) - s.f64(TWO_52 + 1023.0);
    let m = s.of_bits(and(moved, s.u64((1 << 52) - 1)) + s.u64(SQRT_HALF_BITS));
    (s.name("k", k), s.name("m", m))
}

/// The logarithm if the argument is positive and finite, otherwise the special value.
fn settled(s: &Steps, x: &Expr, log: Expr) -> Expr {
    let infinite = s.f64(f64::INFINITY);
    let positive = Expr::select(less(x.clone(), infinite), log, x.clone());
    let zero = equal(x.clone(), s.f64(0.0));
    let other = Expr::select(zero, s.f64(f64::NEG_INFINITY), s.f64(f64::NAN));
    Expr::select(less(s.f64(0.0), x.clone()), positive, other)
}

/// ln(1 + f) to the precision of float32: 2 atanh(f / (2 + f)).
fn log_near_one(s: &Steps, f: &Expr) -> Expr {
    let quotient = s.name("quotient", div(f.clone(), f.clone() + s.f64(2.0)));
    let z = s.name("z", quotient.clone() * quotient.clone());
    quotient * (s.f64(2.0) + z.clone() * s.polynomial(&z, c::LOG_SINGLE))
}

/// k · `step` + ln(m) · `unit`: the logarithm of a positive normal float64 to some base, to the
/// precision of float32.
fn any_base(s: &Steps, x: &Expr, step: f64, unit: f64) -> Expr {
    let (k, m) = parts(s, x);
    let f = s.name("f", m - s.f64(1.0));
    let k = if step == 1.0 { k } else { k * s.f64(step) };
    let near = log_near_one(s, &f);
    k + if unit == 1.0 { near } else { near * s.f64(unit) }
}

fn single_base(x: &Expr, step: f64, unit: f64) -> Expr {
    // Every positive float32 is a normal float64.
    single([x], |s, [x]| {
        let log = any_base(s, &x, step, unit);
        settled(s, &x, log)
    })
}

/// `log` of float32.
pub(super) fn log_single(x: &Expr) -> Expr {
    single_base(x, std::f64::consts::LN_2, 1.0)
}

/// `log2` of float32.
pub(super) fn log2_single(x: &Expr) -> Expr {
    single_base(x, 1.0, std::f64::consts::LOG2_E)
}

/// `log10` of float32.
pub(super) fn log10_single(x: &Expr) -> Expr {
    single_base(x, std::f64::consts::LOG10_2, std::f64::consts::LOG10_E)
}

/// log2 of a float64 that was a float32, with the infinities and NaNs that it has.
pub(super) fn log2_single_of(s: &Steps, x: &Expr) -> Expr {
    let log = any_base(s, x, 1.0, std::f64::consts::LOG2_E);
    settled(s, x, log)
}

/// ln(1 + x) to the precision of float32; for x below -1 a NaN, for -1 minus infinity.
pub(super) fn log1p_of(s: &Steps, x: &Expr) -> Expr {
    let sum = s.name("sum", x.clone() + s.f64(1.0));
    let log = any_base(s, &sum, std::f64::consts::LN_2, 1.0);
    // The rounding error of the sum; for a small sum it is the whole result.
    let lost = s.name("lost", x.clone() - (sum.clone() - s.f64(1.0)));
    let lost = s.if_less(x, 1.0, lost, s.f64(0.0));
    settled(s, &sum, log + lost)
}

/// `log1p` of float32.
pub(super) fn log1p_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let log = log1p_of(s, &x);
        copysign(log, &x)
    })
}

/// The terms of ln(1 + f): f - (half - rest), where half = f² / 2.
struct Terms {
    half: Expr,
    rest: Expr,
}

fn terms(s: &Steps, f: &Expr) -> Terms {
    let half = s.name("half", s.f64(0.5) * f.clone() * f.clone());
    let quotient = s.name("quotient", div(f.clone(), f.clone() + s.f64(2.0)));
    let z = s.name("z", quotient.clone() * quotient.clone());
    let tail = z.clone() * s.polynomial(&z, c::LOG);
    let rest = s.name("rest", quotient * (half.clone() + tail));
    Terms { half, rest }
}

/// [`parts`] of a positive float64, a subnormal one too: k, and m - 1.
pub(super) fn parts_double(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let tiny = |then: Expr, otherwise: Expr| s.if_less(x, f64::MIN_POSITIVE, then, otherwise);
    let normal = s.name("normal", tiny(x.clone() * s.f64(TWO_52), x.clone()));
    let (k, m) = parts(s, &normal);
    let k = s.name("k", k + tiny(s.f64(-52.0), s.f64(0.0)));
    (k, s.name("f", m - s.f64(1.0)))
}

/// k ln 2 + ln(1 + f) + c, where c is small.
fn natural(s: &Steps, k: &Expr, f: &Expr, c: Option<Expr>) -> Expr {
    let Terms { half, rest } = terms(s, f);
    let low = k.clone() * s.f64(c::LN_2.1);
    let low = match c {
        Some(c) => low + c,
        None => low,
    };
    k.clone() * s.f64(c::LN_2.0) - ((half - (rest + low)) - f.clone())
}

/// `log` of float64.
pub(super) fn log_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let (k, f) = parts_double(s, &x);
        settled(s, &x, natural(s, &k, &f, None))
    })
}

/// `log1p` of float64.
pub(super) fn log1p_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let one = || s.f64(1.0);
        let sum = s.name("sum", x.clone() + one());
        let (k, m) = parts(s, &sum);
        let f = s.name("f", m - one());
        // The rounding error of the sum: of the lesser of x and 1.
        let large = one() - (sum.clone() - x.clone());
        let small = x.clone() - (sum.clone() - one());
        let lost = s.name("lost", div(s.if_less(&x, 1.0, small, large), sum.clone()));
        copysign(settled(s, &sum, natural(s, &k, &f, Some(lost))), &x)
    })
}

/// ln(1 + f) in two parts times 1 / ln(base) in two parts: the larger product, exact, and the rest.
fn in_base(s: &Steps, f: &Expr, unit: (f64, f64)) -> (Expr, Expr) {
    let Terms { half, rest } = terms(s, f);
    let masked = and(s.bits(&(f.clone() - half.clone())), s.u64(!0 << 32));
    let high = s.name("high", s.of_bits(masked));
    let low = s.name("low", ((f.clone() - high.clone()) - half) + rest);
    let product = s.name("product", high.clone() * s.f64(unit.0));
    (product, (low.clone() + high) * s.f64(unit.1) + low * s.f64(unit.0))
}

/// The sum of two numbers and a small one, as if the first two had been added with more digits.
fn sum(s: &Steps, large: Expr, product: Expr, low: Expr) -> Expr {
    let total = s.name("total", large.clone() + product.clone());
    (low + ((large - total.clone()) + product)) + total
}

/// `log2` of float64.
pub(super) fn log2_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let (k, f) = parts_double(s, &x);
        let (product, low) = in_base(s, &f, c::INV_LN_2);
        settled(s, &x, sum(s, k, product, low))
    })
}

/// `log10` of float64.
pub(super) fn log10_double(x: &Expr) -> Expr {
    double(x, |s, x| {
        let (k, f) = parts_double(s, &x);
        let (product, low) = in_base(s, &f, c::INV_LN_10);
        let steps = s.name("steps", k.clone() * s.f64(c::LOG10_2.0));
        settled(s, &x, sum(s, steps, product, low + k * s.f64(c::LOG10_2.1)))
    })
}
