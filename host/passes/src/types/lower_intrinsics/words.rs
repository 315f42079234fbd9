//! Arithmetic of quantised kernels in pairs of uint32, for targets without int64.

use chipdock_ir::Expr;

use super::kit::{Steps, or, plain, shl, shr};
use crate::types::words::{Words, extended, product, sum, to_left, to_right};

/// Half of 2^count, 0 for a count of 0.
fn half(s: &Steps, by: &Expr) -> Words {
    let one = Words { high: s.u32(0), low: s.u32(1) };
    let power = to_left(s, &one, by);
    let from_high = shl(power.high.clone(), s.u32(31));
    let low = s.name("low", or(shr(power.low, s.u32(1)), from_high));
    Words { high: s.name("high", shr(power.high, s.u32(1))), low }
}

/// (x · 2^left · y + 2^(right - 1)) >> right of int32, computed modulo 2^64.
pub(super) fn multiply_shift(x: &Expr, y: &Expr, left: Option<Expr>, right: Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let factor = match &left {
            Some(left) => to_left(s, &extended(s, &x), left),
            None => extended(s, &x),
        };
        let right = s.name("right", right);
        let rounded = sum(s, &product(s, &factor, &extended(s, &y)), &half(s, &right));
        to_right(s, &rounded, &right, true).low.cast(x.dtype)
    })
}
