//! Functions of float64 that need more than its digits on the way.
//!
//! They rely on the rounding errors of sums, which nobody may reorder, and of products; see
//! [`pair::product`].

pub(super) mod angle;
mod coefficients;
pub(super) mod hyperbolic;
pub(super) mod pair;
pub(super) mod power;
pub(super) mod trig;

use chipdock_ir::{DType, Expr};

use super::kit::{Steps, max, min, plain, shl};

/// `ldexp`. The last product is the only one that may be rounded.
pub(super) fn ldexp(x: &Expr, n: &Expr) -> Expr {
    plain([x], |s, [x]| {
        let bounded = |n: Expr, low: i128, high: i128| {
            let bound = |value: i128| Expr::int(value, n.dtype);
            min(max(n.clone(), bound(low)), bound(high))
        };
        let n = s.name("n", bounded(n.clone(), -2200, 2200).cast(DType::INT32.with_lanes(n.dtype.lanes)));
        let last = s.name("last", bounded(n.clone(), -1022, 1023));
        let others = s.name("others", n - last.clone());
        let second = s.name("second", bounded(others.clone(), -1022, 1023));
        let first = power_of_two(s, others - second.clone());
        x * first * power_of_two(s, second) * power_of_two(s, last)
    })
}

/// 2^n of an int32 from -1022 to 1023.
fn power_of_two(s: &Steps, n: Expr) -> Expr {
    let biased = (n + s.i32(1023)).cast(s.u64(0).dtype);
    s.of_bits(shl(biased, s.u64(52)))
}
