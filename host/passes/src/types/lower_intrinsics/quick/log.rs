//! Logarithms.

use chipdock_ir::{DType, Expr};

use super::super::float::polynomial;
use super::super::kit::{Steps, and, equal, less, plain, reinterpret};
use super::super::narrow::{float, if_less};
use super::{SIGN, bits, coefficients as c, difference, of_bits, with_sign};

/// The bits of the square root of 1/2, and those of an exponent.
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
const EXPONENT: u32 = 0xff80_0000;
/// The number that has the bits of an exponent, k · 2^23, is this often k.
const UNIT: f32 = 1.0 / 8_388_608.0;
/// ln 2: 9 digits, and the rest.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// log10 2: 11 digits, and the rest.
const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);
/// 1 / ln 10: 12 digits, and the rest.
const INV_LN_10: (f32, f32) = (0.434_326_17, -3.168_997e-5);

/// The bits of 2^k's exponent, less those of 1, where x / 2^k is between the roots of 1/2 and 2.
fn exponent(s: &Steps, x: &Expr) -> Expr {
    s.name("exponent", and(difference(bits(x), s.u32(SQRT_HALF_BITS)), s.u32(EXPONENT)))
}

fn whole(s: &Steps, exponent: &Expr) -> Expr {
    float(s, reinterpret(exponent.clone(), DType::INT32)) * s.f32(UNIT)
}

/// A positive float32 as 2^k · (1 + f), 1 + f between the roots of 1/2 and 2: k as a float32, and
/// f.
fn parts(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let tiny = |then: Expr, otherwise: Expr| if_less(s, x, f32::MIN_POSITIVE, then, otherwise);
    let normal = s.name("normal", tiny(x.clone() * s.f32(33_554_432.0), x.clone()));
    let exponent = exponent(s, &normal);
    let f = s.name("f", of_bits(difference(bits(&normal), exponent.clone())) - s.f32(1.0));
    (s.name("k", whole(s, &exponent) + tiny(s.f32(-25.0), s.f32(0.0))), f)
}

/// The logarithm if the argument is positive and finite, otherwise the special value.
fn settled(s: &Steps, x: &Expr, log: Expr) -> Expr {
    let positive = if_less(s, x, f32::INFINITY, log, x.clone());
    let zero = equal(x.clone(), s.f32(0.0));
    let other = Expr::select(zero, s.f32(f32::NEG_INFINITY), s.f32(f32::NAN));
    Expr::select(less(s.f32(0.0), x.clone()), positive, other)
}

/// k ln 2 + ln(1 + f).
fn natural(s: &Steps, k: &Expr, f: &Expr) -> Expr {
    let square = s.name("square", f.clone() * f.clone());
    let rest = square.clone() * (f.clone() * polynomial(f, c::LOG)) + k.clone() * s.f32(LN_2.1);
    let rest = s.name("rest", rest - s.f32(0.5) * square);
    (rest + f.clone()) + k.clone() * s.f32(LN_2.0)
}

/// `log`.
pub(crate) fn log(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        settled(s, &x, natural(s, &k, &f))
    })
}

/// `log2`: f + (1 / ln 2 - 1) f and a polynomial.
pub(crate) fn log2(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        let rest = s.name("rest", f.clone() * f.clone() * polynomial(&f, c::LOG2));
        let rest = rest + f.clone() * s.f32(std::f32::consts::LOG2_E - 1.0);
        settled(s, &x, (rest + f) + k)
    })
}

/// `log10`.
pub(crate) fn log10(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let (k, f) = parts(s, &x);
        let rest = f.clone() * f.clone() * polynomial(&f, c::LOG10) + f.clone() * s.f32(INV_LN_10.1);
        let rest = s.name("rest", rest + k.clone() * s.f32(LOG10_2.1));
        settled(s, &x, (rest + f * s.f32(INV_LN_10.0)) + k * s.f32(LOG10_2.0))
    })
}

/// `log1p`: 1 + x = 2^k · (1 + f), where f = x · 2^-k + (2^-k - 1); both terms are exact, the first
/// by the bits of x.
pub(crate) fn log1p(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let sum = s.name("sum", x.clone() + s.f32(1.0));
        let exponent = exponent(s, &sum);
        // 2^(2 - k): for the largest k, 2^-k would be subnormal.
        let inverse = of_bits(difference(s.u32(4.0_f32.to_bits()), exponent.clone()));
        let rest = inverse * s.f32(0.25) - s.f32(1.0);
        let f = s.name("f", of_bits(difference(bits(&x), exponent.clone())) + rest);
        let k = s.name("k", whole(s, &exponent));
        let value = s.name("value", settled(s, &sum, natural(s, &k, &f)));
        let magnitude = of_bits(and(bits(&value), s.u32(!SIGN)));
        with_sign(s, &magnitude, &x)
    })
}
