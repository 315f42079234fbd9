//! Analysis of conditional evaluation: what may be evaluated without need, and what is needed in
//! any case.

use std::collections::HashSet;

use crate::limits::DEPTH_MAX;
use crate::{BinaryOp, Callee, Expr, ExprKind, Op};

/// Maximum cost of an expression that is evaluated unconditionally without need: about that of a
/// mispredicted branch.
const COST_MAX: usize = 16;

/// Returns true for an expression that may be evaluated without need: it has no effect, cannot
/// fail, and costs little.
pub fn is_cheap(e: &Expr) -> bool {
    let mut left = COST_MAX;
    fits(e, &mut left)
}

fn fits(e: &Expr, left: &mut usize) -> bool {
    let cost = match &e.kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Broadcast { .. } => Some(0),
        ExprKind::Str(_) | ExprKind::ConstantData(_) | ExprKind::Load { .. } => None,
        ExprKind::Binary(op, _, b) => Some(match op {
            BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => {
                if b.as_int().is_some() { 4 } else { COST_MAX + 1 }
            }
            _ => 1,
        }),
        ExprKind::Call { callee: Callee::Op(op), .. } => op.info().cost.map(usize::from),
        ExprKind::Call { .. } => None,
        _ => Some(1),
    };
    let Some(rest) = cost.and_then(|cost| left.checked_sub(cost)) else { return false };
    *left = rest;
    let mut is_cheap = true;
    e.for_each_child(&mut |child| is_cheap = is_cheap && fits(child, left));
    is_cheap
}

/// The outermost nodes that are evaluated whenever either of two expressions is.
pub fn in_both<'a>(a: &'a Expr, b: &'a Expr) -> Vec<&'a Expr> {
    let (mut there, mut seen, mut both) = (HashSet::new(), HashSet::new(), Vec::new());
    visit_evaluated(b, 0, &mut |e| there.insert(e.address()));
    visit_evaluated(a, 0, &mut |e| {
        if !seen.insert(e.address()) {
            return false;
        }
        let mut has_children = false;
        e.for_each_child(&mut |_| has_children = true);
        let is_shared = has_children && there.contains(&e.address());
        if is_shared {
            both.push(e);
        }
        !is_shared
    });
    both
}

/// Visits the nodes that are evaluated whenever `e` is, in the same scope of variables; not below a
/// node for which `f` returns false.
fn visit_evaluated<'a>(e: &'a Expr, depth: usize, f: &mut dyn FnMut(&'a Expr) -> bool) {
    if depth > DEPTH_MAX || !f(e) {
        return;
    }
    match &e.kind {
        ExprKind::And(a, _) | ExprKind::Or(a, _) | ExprKind::Let { value: a, .. } => {
            visit_evaluated(a, depth + 1, f);
        }
        ExprKind::Call { callee: Callee::Op(Op::IfThenElse), args } => {
            args.iter().take(1).for_each(|condition| visit_evaluated(condition, depth + 1, f));
        }
        // The argument is a place, which is not read.
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), .. } => {}
        _ => e.for_each_child(&mut |child| visit_evaluated(child, depth + 1, f)),
    }
}
