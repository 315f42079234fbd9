//! Numbers of twice the digits of a float64: a value, and what rounding took from it.
//!
//! All of it is right with and without contraction (rule IR-N10): where a rounding error is
//! computed, no operand of a sum is a product that was rounded.

use chipdock_ir::Expr;

use super::super::kit::{Steps, and};

/// The sum of two numbers, of which the first is not the smaller one, or is 0.
pub(crate) fn quick_sum(s: &Steps, a: &Expr, b: &Expr) -> (Expr, Expr) {
    let sum = s.name("sum", a.clone() + b.clone());
    let lost = s.name("lost", b.clone() - (sum.clone() - a.clone()));
    (sum, lost)
}

/// The upper 26 digits of a number.
pub(crate) fn upper(s: &Steps, x: &Expr) -> Expr {
    s.of_bits(and(s.bits(x), s.u64(!0 << 27)))
}

/// The upper 26 digits of a number, and the others.
pub(crate) fn halves(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let upper = s.name("upper", upper(s, x));
    let lower = s.name("lower", x.clone() - upper.clone());
    (upper, lower)
}

/// The product of two numbers whose size is far from both ends, within 2^-77 of itself.
///
/// The product of the upper halves is exact, and so is the same in a contraction.
pub(crate) fn product(s: &Steps, a: &Expr, b: &Expr) -> (Expr, Expr) {
    let ((p, q), (t, u)) = (halves(s, a), halves(s, b));
    let upper = s.name("upper", p.clone() * t.clone());
    let lower = s.name("lower", p * u.clone() + (q.clone() * t + q * u));
    quick_sum(s, &upper, &lower)
}
