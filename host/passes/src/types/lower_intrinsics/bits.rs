//! Counting bits with shifts and masks.

use chipdock_ir::{Callee, DType, Expr, ExprKind, Op, TypeCode};

use super::named;

fn unsigned(dtype: DType) -> DType {
    DType { code: TypeCode::UInt, ..dtype }
}

fn constant(value: u64, dtype: DType) -> Expr {
    Expr::int(value.into(), dtype)
}

fn and(a: Expr, b: Expr) -> Expr {
    let dtype = a.dtype;
    Expr::call(Op::BitwiseAnd, vec![a, b], dtype)
}

fn right(a: Expr, count: u64) -> Expr {
    let dtype = a.dtype;
    Expr::call(Op::ShiftRight, vec![a, constant(count, dtype)], dtype)
}

/// Number of set bits: counted in pairs, in fours, in bytes, and bytes summed by a product (Warren,
/// Hacker's Delight, 5-1).
pub(crate) fn popcount(x: &Expr) -> Expr {
    let dtype = unsigned(x.dtype);
    let every = |byte: u8| constant(u64::from_ne_bytes([byte; 8]), dtype);
    let sum = named("bits", x.clone().cast(dtype), |x| {
        named(
            "pairs",
            Expr::binary(chipdock_ir::BinaryOp::Sub, x.clone(), and(right(x, 1), every(0x55))),
            |pairs| {
                named("fours", and(pairs.clone(), every(0x33)) + and(right(pairs, 2), every(0x33)), |fours| {
                    let bytes = and(fours.clone() + right(fours, 4), every(0x0f));
                    if dtype.bits == 8 {
                        bytes
                    } else {
                        right(bytes * every(0x01), u64::from(dtype.bits) - 8)
                    }
                })
            },
        )
    });
    sum.cast(x.dtype)
}

/// Number of leading zeros: the width minus the number of set bits after spreading the leading one
/// to the right.
pub(super) fn clz(x: &Expr) -> Expr {
    let dtype = unsigned(x.dtype);
    let or = |a: Expr, b: Expr| Expr::call(Op::BitwiseOr, vec![a, b], dtype);
    let mut spread = x.clone().cast(dtype);
    let mut steps: Vec<(chipdock_ir::Var, Expr)> = Vec::new();
    let mut distance = 1;
    while distance < u64::from(dtype.bits) {
        let var = chipdock_ir::Var::new("spread", dtype);
        steps.push((var.clone(), spread));
        spread = or(var.expr(), right(var.expr(), distance));
        distance *= 2;
    }
    let result = DType::INT32.with_lanes(x.dtype.lanes);
    let width = Expr::int(dtype.bits.into(), result);
    let count = popcount(&spread).cast(result);
    let body = Expr::binary(chipdock_ir::BinaryOp::Sub, width, count);
    steps
        .into_iter()
        .rev()
        .fold(body, |body, (var, value)| Expr::new(chipdock_ir::ExprKind::Let { var, value, body }, result))
}

/// Replaces counts of leading zeros in the expression by shifts.
pub(crate) fn without_clz(e: &Expr) -> Expr {
    let mapped = e.map_children(&mut |child| without_clz(child));
    match &mapped.kind {
        ExprKind::Call { callee: Callee::Op(Op::Clz), args } => args.first().map_or_else(|| e.clone(), clz),
        _ => mapped,
    }
}
