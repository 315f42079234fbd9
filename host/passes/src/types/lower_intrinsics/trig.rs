//! Circular functions of float32, and their inverses.

use chipdock_ir::{Expr, Op};

use super::coefficients as c;
use super::kit::{
    MAGIC, Steps, abs, and, copysign, div, equal, less, max, min, one_if_less, pair, shl, single, sqrt,
};
use super::log::log1p_of;

/// Adding this to a float64 and subtracting it again rounds to a multiple of 4. A number of 51 bits
/// from 2^52 on is itself a multiple of 4, and is unchanged: there is a bit to spare for the sum,
/// and from 2^106 on the constant is lost in it.
const MAGIC_4: f64 = MAGIC * 4.0;

/// x · 2/π = k + r: r in quarter turns, at most 1/2, and k in the low bits of a uint64, correct
/// modulo 4.
///
/// Valid for every finite float32: 2/π is split into pieces of 27 bits, whose products with 24 bits
/// are exact, and multiples of 4 are removed from each product.
pub(super) fn quarter_turns(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let pieces = c::TWO_OVER_PI.iter().enumerate().map(|(index, piece)| {
        let product = s.name("product", x.clone() * s.f64(*piece));
        // x is below 2^128 and the piece below 2^(-27 index): the last products are fractions.
        if index < 5 {
            let fours = (product.clone() + s.f64(MAGIC_4)) - s.f64(MAGIC_4);
            s.name("turn", product - fours)
        } else {
            product
        }
    });
    let turns: Vec<Expr> = pieces.collect();
    let sum = |first: Expr, rest: &[Expr]| rest.iter().fold(first, |sum, turn| sum + turn.clone());
    let shifted = s.name("shifted", sum(turns[0].clone(), &turns[1..5]) + s.f64(MAGIC));
    let whole = shifted.clone() - s.f64(MAGIC);
    // Exact as long as terms cancel: the leading turns have few digits.
    let r = s.name("r", sum(turns[0].clone() - whole, &turns[1..]));
    (r, s.name("quarter", s.bits(&shifted)))
}

fn sine(s: &Steps, r: &Expr, square: &Expr) -> Expr {
    r.clone() * s.polynomial(square, c::SIN_SINGLE)
}

fn finite(s: &Steps, x: &Expr, value: Expr) -> Expr {
    s.if_less(&abs(x), f64::INFINITY, value, s.f64(f64::NAN))
}

fn is_even(s: &Steps, quarter: &Expr) -> Expr {
    equal(and(quarter.clone(), s.u64(1)), s.u64(0))
}

/// Flips the sign of the value if the bit is set.
fn turned(s: &Steps, value: &Expr, quarter: &Expr, bit: u64) -> Expr {
    let sign = shl(and(quarter.clone(), s.u64(1 << bit)), s.u64(63 - bit));
    s.of_bits(pair(Op::BitwiseXor, s.bits(value), sign))
}

/// The sine of x plus `quarters` quarter turns.
fn wave(x: &Expr, quarters: u64) -> Expr {
    single([x], |s, [x]| {
        let (r, quarter) = quarter_turns(s, &x);
        let quarter = if quarters == 0 { quarter } else { s.name("quarter", quarter + s.u64(quarters)) };
        let square = s.name("square", r.clone() * r.clone());
        let value =
            Expr::select(is_even(s, &quarter), sine(s, &r, &square), s.polynomial(&square, c::COS_SINGLE));
        finite(s, &x, turned(s, &value, &quarter, 1))
    })
}

/// `sin` of float32.
pub(super) fn sin_single(x: &Expr) -> Expr {
    wave(x, 0)
}

/// `cos` of float32.
pub(super) fn cos_single(x: &Expr) -> Expr {
    wave(x, 1)
}

/// `tan` of float32.
pub(super) fn tan_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let (r, quarter) = quarter_turns(s, &x);
        let square = s.name("square", r.clone() * r.clone());
        let sine = s.name("sine", sine(s, &r, &square));
        let cosine = s.name("cosine", s.polynomial(&square, c::COS_SINGLE));
        let over = Expr::select(is_even(s, &quarter), sine.clone(), cosine.clone());
        let under = Expr::select(is_even(s, &quarter), cosine, sine);
        finite(s, &x, turned(s, &div(over, under), &quarter, 0))
    })
}

/// The angle whose tangent is low / high, 0 ≤ low ≤ high < ∞; 0 for 0 / 0.
fn angle(s: &Steps, low: &Expr, high: &Expr) -> Expr {
    // Past the tangent of π/8, the angle from π/4 is taken.
    let border = s.name("border", high.clone() * s.f64(0.414_213_562_373_095));
    let far = s.name("far", one_if_less(&border, low));
    let over = low.clone() - far.clone() * high.clone();
    let under = max(s.f64(f64::MIN_POSITIVE), high.clone() + far.clone() * low.clone());
    let t = s.name("t", div(over, under));
    let square = s.name("square", t.clone() * t.clone());
    far * s.f64(std::f64::consts::FRAC_PI_4) + t * s.polynomial(&square, c::ATAN_SINGLE)
}

/// The angle, or π/2 minus the angle if `a` is greater than `b`.
fn complemented(s: &Steps, angle: Expr, a: &Expr, b: &Expr) -> Expr {
    let angle = s.name("angle", angle);
    let steep = s.name("steep", one_if_less(b, a));
    let sign = s.f64(1.0) - (steep.clone() + steep.clone());
    steep * s.f64(std::f64::consts::FRAC_PI_2) + sign * angle
}

/// Clamps to a bound far beyond float32, so that an infinity becomes finite and two infinities
/// compare equal.
fn bounded(s: &Steps, x: &Expr) -> Expr {
    s.name("a", min(s.f64(2.0_f64.powi(400)), abs(x)))
}

/// `atan` of float32.
pub(super) fn atan_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = bounded(s, &x);
        let low = s.name("low", min(s.f64(1.0), a.clone()));
        let high = s.name("high", max(s.f64(1.0), a.clone()));
        copysign(complemented(s, angle(s, &low, &high), &a, &s.f64(1.0)), &x)
    })
}

/// `atan2` of float32.
pub(super) fn atan2_single(y: &Expr, x: &Expr) -> Expr {
    single([y, x], |s, [y, x]| {
        let (a, b) = (bounded(s, &y), bounded(s, &x));
        let low = s.name("low", min(a.clone(), b.clone()));
        let high = s.name("high", max(a.clone(), b.clone()));
        // Minimum and maximum drop a NaN in the first operand.
        let nan = a.clone() * s.f64(0.0);
        let right = s.name("right", complemented(s, angle(s, &low, &high) + nan, &a, &b));
        let left = s.f64(std::f64::consts::PI) - right.clone();
        let sign = copysign(s.f64(1.0), &x);
        copysign(s.if_less(&sign, 0.0, left, right), &y)
    })
}

/// asin(a) up to 1/2; above, half of π/2 - asin(a).
fn half_angle(s: &Steps, a: &Expr) -> Expr {
    let halved = (s.f64(1.0) - a.clone()) * s.f64(0.5);
    let square = s.name("square", if_far(s, a, halved, a.clone() * a.clone()));
    let sine = if_far(s, a, sqrt(&square), a.clone());
    s.name("half", sine * s.polynomial(&square, c::ASIN_SINGLE))
}

fn if_far(s: &Steps, a: &Expr, far: Expr, near: Expr) -> Expr {
    Expr::select(less(s.f64(0.5), a.clone()), far, near)
}

/// `asin` of float32.
pub(super) fn asin_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let half = half_angle(s, &a);
        let rest = s.f64(std::f64::consts::FRAC_PI_2) - (half.clone() + half.clone());
        copysign(if_far(s, &a, rest, half), &x)
    })
}

/// `acos` of float32.
pub(super) fn acos_single(x: &Expr) -> Expr {
    use std::f64::consts::{FRAC_PI_2, PI};
    single([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let half = half_angle(s, &a);
        let twice = s.name("twice", half.clone() + half.clone());
        let outer = s.if_less(&x, 0.0, s.f64(PI) - twice.clone(), twice);
        if_far(s, &a, outer, s.f64(FRAC_PI_2) - copysign(half, &x))
    })
}

/// `asinh` of float32: ln(a + √(a² + 1)), as log1p of the part above 1.
pub(super) fn asinh_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let root = sqrt(&(a.clone() * a.clone() + s.f64(1.0)));
        // At most 1; for an infinity it is a NaN, and 1 serves as well.
        let ratio = min(div(a.clone(), root + s.f64(1.0)), s.f64(1.0));
        let above = s.name("above", a.clone() + a * ratio);
        copysign(log1p_of(s, &above), &x)
    })
}

/// `acosh` of float32: ln(x + √(x² - 1)), as log1p of the part above 1.
pub(super) fn acosh_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let above = s.if_less(&x, 1.0, s.f64(f64::NAN), x.clone() - s.f64(1.0));
        let above = s.name("above", above);
        let root = sqrt(&(above.clone() * (x + s.f64(1.0))));
        log1p_of(s, &s.name("sum", above + root))
    })
}

/// `atanh` of float32: half of ln((1 + a) / (1 - a)), as log1p.
pub(super) fn atanh_single(x: &Expr) -> Expr {
    single([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let quotient = s.name("ratio", div(a.clone() + a.clone(), s.f64(1.0) - a));
        copysign(s.f64(0.5) * log1p_of(s, &quotient), &x)
    })
}

/// `hypot` of float32: squares fit into float64.
pub(super) fn hypot_single(x: &Expr, y: &Expr) -> Expr {
    single([x, y], |s, [x, y]| {
        let root = s.name("root", sqrt(&(x.clone() * x.clone() + y.clone() * y.clone())));
        let infinity = || s.f64(f64::INFINITY);
        let either = Expr::select(equal(abs(&y), infinity()), infinity(), root);
        Expr::select(equal(abs(&x), infinity()), infinity(), either)
    })
}
