//! Circular functions: the angle in float64, exact for every argument, the rest in float32.

use chipdock_ir::{DType, Expr};

use super::super::kit::{Steps, abs, and, div, equal, plain, shl};
use super::super::narrow::{if_less, trig as narrow};
use super::super::trig::quarter_turns;
use super::{SIGN, bits, flipped, xor};

/// The rest of a finite |x| after whole quarter turns, in radians, and their number in the low bits
/// of a uint32.
fn angle(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let (r, quarter) = quarter_turns(s, &s.name("wide", x.clone().cast(s.f64(0.0).dtype)));
    let radians = (r * s.f64(std::f64::consts::FRAC_PI_2)).cast(x.dtype);
    (s.name("r", radians), s.name("quarter", quarter.cast(DType::UINT32.with_lanes(x.dtype.lanes))))
}

fn finite(s: &Steps, x: &Expr, value: Expr) -> Expr {
    if_less(s, x, f32::INFINITY, value, s.f32(f32::NAN))
}

fn is_even(s: &Steps, quarter: &Expr) -> Expr {
    equal(and(quarter.clone(), s.u32(1)), s.u32(0))
}

fn wave(x: &Expr, quarters: u32) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let (r, quarter) = angle(s, &a);
        let quarter = if quarters == 0 { quarter } else { s.name("quarter", quarter + s.u32(quarters)) };
        let square = s.name("square", r.clone() * r.clone());
        let value = Expr::select(is_even(s, &quarter), narrow::sine(&r, &square), narrow::cosine(s, &square));
        // Half a turn changes the sign; for a sine, so does the sign of x.
        let sign = shl(and(quarter, s.u32(2)), s.u32(30));
        let sign = if quarters == 0 { xor(sign, and(bits(&x), s.u32(SIGN))) } else { sign };
        finite(s, &a, flipped(&value, sign))
    })
}

/// `sin`.
pub(crate) fn sin(x: &Expr) -> Expr {
    wave(x, 0)
}

/// `cos`.
pub(crate) fn cos(x: &Expr) -> Expr {
    wave(x, 1)
}

/// `tan`.
pub(crate) fn tan(x: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let a = s.name("a", abs(&x));
        let (r, quarter) = angle(s, &a);
        let square = s.name("square", r.clone() * r.clone());
        let sine = s.name("sine", narrow::sine(&r, &square));
        let cosine = s.name("cosine", narrow::cosine(s, &square));
        let even = s.name("even", is_even(s, &quarter));
        let over = Expr::select(even.clone(), sine.clone(), cosine.clone());
        let under = Expr::select(even, cosine, sine);
        let sign = xor(shl(and(quarter, s.u32(1)), s.u32(31)), and(bits(&x), s.u32(SIGN)));
        finite(s, &a, flipped(&div(over, under), sign))
    })
}
