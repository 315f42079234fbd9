//! Dot products in shuffles, casts, products and sums.

use chipdock_ir::{Expr, ExprKind};

use super::named;

/// `dot_add(c, a, b)`: to each lane of the sum, the products of its group of lanes.
pub(super) fn add(c: &Expr, a: &Expr, b: &Expr) -> Expr {
    let (sum, lanes) = (c.dtype, c.dtype.lanes);
    let group = a.dtype.lanes.checked_div(lanes).unwrap_or_default();
    // The lanes at one place of each group.
    let part = |vector: &Expr, place: u16| {
        let indices = (0..lanes).map(|lane| lane * group + place).collect();
        let kind = ExprKind::Shuffle { vectors: vec![vector.clone()], indices };
        Expr::new(kind, vector.dtype.with_lanes(lanes)).cast(sum)
    };
    named("a", a.clone(), |a| {
        named("b", b.clone(), |b| {
            let products = (0..group).map(|place| part(&a, place) * part(&b, place));
            products.fold(c.clone(), |sum, product| sum + product)
        })
    })
}
