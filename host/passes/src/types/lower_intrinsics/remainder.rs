//! `fmod`.

use chipdock_ir::Expr;

use super::kit::{MAGIC, abs, copysign, div, min, single};

/// Binary digits of the quotient that a step removes: so many and one more, times the 24 of a
/// float32, are exact.
const DIGITS: i32 = 28;
/// Steps for the largest quotient, 2^277.
const STEPS: i32 = 10;

/// `fmod` of float32, exact.
///
/// Each step subtracts the multiple of y · 2^(28 k) that leaves the least rest, of either sign.
/// Products and rests are exact in float64; a multiple that is off by one, because a quotient was
/// rounded, is made up for by the next step.
pub(super) fn fmod_single(x: &Expr, y: &Expr) -> Expr {
    single([x, y], |s, [x, y]| {
        // Past every float32, and so that no product with 0 is a NaN.
        let b = s.name("b", min(s.f64(2.0_f64.powi(130)), abs(&y)));
        let inverse = s.name("inverse", div(s.f64(1.0), b.clone()));
        let mut rest = s.name("a", abs(&x));
        for step in (0..STEPS).rev() {
            let scale = 2.0_f64.powi(step * DIGITS);
            let quotient = rest.clone() * (inverse.clone() * s.f64(1.0 / scale));
            let shifted = s.name("shifted", quotient + s.f64(MAGIC));
            let whole = s.name("whole", shifted - s.f64(MAGIC));
            rest = s.name("rest", rest - whole * (b.clone() * s.f64(scale)));
        }
        let positive = s.if_less(&rest, 0.0, rest.clone() + b, rest.clone());
        copysign(positive, &x)
    })
}
